//! Faults of the disk take root: mounts and the kernel's block I/O controller.

use std::time::{Duration, Instant};

use flashdrill::faults::{Fault, MysqlDiskSlow, RedisDiskFull};
use redis::cmd;
use sqlx::Executor;
use tokio::time::timeout;

use super::ground::{Ground, SOON, count, healed, without_receipt};

const KEY: &str = "fs:{s1}:stock";

fn disk_full() -> Fault {
    Fault::RedisDiskFull(RedisDiskFull {
        sku: count(1),
        volume_mib: 16,
    })
}

async fn write(ground: &Ground, field: u64) -> Result<(), String> {
    let primary = ground.stack.redis.primary_of(KEY).await.unwrap();
    let mut set = cmd("HSET");
    set.arg(KEY).arg(field).arg("x".repeat(512));
    primary.query(&set).await.map_err(|error| error.to_string())
}

pub async fn a_full_disk_makes_redis_refuse_writes(ground: &Ground) {
    write(ground, 0).await.unwrap();
    let refused = async {
        for field in 1.. {
            if let Err(error) = write(ground, field).await {
                return error;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        unreachable!("an endless range ends by returning")
    };
    let (event, refused) = ground.during(disk_full(), timeout(SOON, refused)).await;
    assert!(
        healed(&event).contains("aof_last_write_status:err"),
        "{event:?}"
    );
    let refused = refused.unwrap();
    assert!(refused.contains("MISCONF"), "{refused}");
    write(ground, 0).await.unwrap();
    let node = ground.stack.redis.primary_of(KEY).await.unwrap();
    let dir: (String, String) = node
        .query(cmd("CONFIG").arg("GET").arg("dir"))
        .await
        .unwrap();
    assert!(!dir.1.contains("volume"), "{dir:?}");
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounts.contains(&dir.1), "{mounts}");
}

pub async fn a_full_disk_that_nobody_writes_to_has_no_receipt(ground: &Ground) {
    let event = ground.unnoticed(disk_full()).await;
    without_receipt(&event, "has not failed to write");
}

fn slow(writes_per_s: u64) -> Fault {
    let writes_per_s = count(writes_per_s);
    Fault::MysqlDiskSlow(MysqlDiskSlow { writes_per_s })
}

pub async fn a_slow_disk_makes_commits_slow(ground: &Ground) {
    let mut writer = ground.connect().await.unwrap();
    writer
        .execute("CREATE TABLE IF NOT EXISTS written (number INT)")
        .await
        .unwrap();
    let slow_commit = async {
        loop {
            let begun = Instant::now();
            writer
                .execute("INSERT INTO written VALUES (1)")
                .await
                .unwrap();
            if begun.elapsed() >= Duration::from_millis(200) {
                return;
            }
        }
    };
    let (event, slowed) = ground.during(slow(5), timeout(SOON, slow_commit)).await;
    assert!(
        healed(&event).contains("a commit takes at least"),
        "{event:?}"
    );
    slowed.expect("the service's commits are slow too");
    let groups = std::fs::read_dir("/sys/fs/cgroup/blkio").or(std::fs::read_dir("/sys/fs/cgroup"));
    let mut names = groups.unwrap().flatten().map(|entry| entry.file_name());
    let ours = format!("flashdrill-{}-", std::process::id());
    assert!(!names.any(|name| name.to_string_lossy().starts_with(&ours)));
}

pub async fn a_limit_that_nobody_feels_has_no_receipt(ground: &Ground) {
    let event = ground.unnoticed(slow(1_000_000)).await;
    without_receipt(&event, "a commit takes");
}
