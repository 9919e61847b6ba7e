//! Faults of the disk take root: mounts and the kernel's block I/O controller.

use std::time::{Duration, Instant};

use flashdrill::faults::{Fault, MysqlDiskSlow, ServerDiskFull, ServerName, StoreName};
use redis::cmd;
use sqlx::{Executor, MySqlConnection};
use tokio::time::timeout;

use super::broker;
use super::ground::{Ground, SOON, count, healed, without_receipt};

const KEY: &str = "fs:{s1}:stock";

fn disk_full(server: &str) -> Fault {
    Fault::ServerDiskFull(ServerDiskFull {
        server: StoreName::new(ServerName::new(server.to_owned()).unwrap()).unwrap(),
        sku: count(1),
        // The service's hundred tables of stock are ten of them.
        volume_mib: 48,
    })
}

/// Tries again and again until it is refused; returns the reason.
async fn until_refused<E>(mut attempt: impl AsyncFnMut(u64) -> Result<(), E>) -> E {
    for number in 1.. {
        if let Err(refused) = attempt(number).await {
            return refused;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    unreachable!("an endless range ends by returning")
}

fn is_anything_mounted(ground: &Ground) -> bool {
    let scratch = ground.stack.scratch().display().to_string();
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    mounts.contains(&scratch)
}

async fn write(ground: &Ground, field: u64) -> Result<(), String> {
    let primary = ground.stack.redis.primary_of(KEY).await.unwrap();
    let mut set = cmd("HSET");
    set.arg(KEY).arg(field).arg("x".repeat(512));
    primary.query(&set).await.map_err(|error| error.to_string())
}

pub async fn a_full_disk_makes_redis_refuse_writes(ground: &Ground) {
    write(ground, 0).await.unwrap();
    let refused = until_refused(async |field| write(ground, field).await);
    let fault = disk_full("redis-primary");
    let (event, refused) = ground.during(fault, timeout(SOON, refused)).await;
    let receipt = healed(&event);
    assert!(receipt.contains("aof_last_write_status:err"), "{receipt}");
    let refused = refused.unwrap();
    assert!(refused.contains("MISCONF"), "{refused}");
    write(ground, 0).await.unwrap();
    let node = ground.stack.redis.primary_of(KEY).await.unwrap();
    let dir: (String, String) = node
        .query(cmd("CONFIG").arg("GET").arg("dir"))
        .await
        .unwrap();
    assert!(!dir.1.contains("volume"), "{dir:?}");
    assert!(!is_anything_mounted(ground));
}

pub async fn a_full_disk_that_nobody_writes_to_has_no_receipt(ground: &Ground) {
    let event = ground.unnoticed(disk_full("redis-primary")).await;
    without_receipt(&event, "has not failed to write");
    let event = ground.unnoticed(disk_full("mysql")).await;
    without_receipt(&event, "has had to grow");
}

/// Each fills a page.
const INSERT: &str = "INSERT INTO full (filling) VALUES (REPEAT('x', 8000))";

async fn rows(connection: &mut MySqlConnection) -> u64 {
    let rows: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM full")
        .fetch_one(connection)
        .await
        .unwrap();
    rows.unsigned_abs()
}

/// Inserts until the server refuses; returns its words.
async fn fill_the_table(writer: &mut MySqlConnection, written: &mut u64) -> String {
    let insert = async |_| {
        writer.execute(INSERT).await?;
        *written += 1;
        Ok::<_, sqlx::Error>(())
    };
    until_refused(insert).await.to_string()
}

pub async fn a_full_disk_makes_mysql_refuse_what_must_grow(ground: &Ground) {
    let mut writer = ground.connect().await.unwrap();
    let table = "CREATE TABLE full (number INT PRIMARY KEY AUTO_INCREMENT, filling VARCHAR(8000))";
    writer.execute(table).await.unwrap();
    let mut written = 0;
    let filling = timeout(SOON, fill_the_table(&mut writer, &mut written));
    let (event, refused) = ground.during(disk_full("mysql"), filling).await;
    let receipt = healed(&event);
    assert!(receipt.contains("The table 'full' is full"), "{receipt}");
    let refused = refused.unwrap();
    assert!(refused.contains("1114"), "{refused}");
    assert!(!is_anything_mounted(ground));
    writer.execute(INSERT).await.unwrap();
    assert_eq!(rows(&mut writer).await, written + 1);
}

/// It dies on the volume, is dead when the fault is healed, and finds everything when it starts.
pub async fn mysql_dies_on_a_full_disk_and_loses_nothing(ground: &Ground) {
    let mysql = &ground.stack.mysql.server;
    let mut writer = ground.connect().await.unwrap();
    let mut written = rows(&mut writer).await;
    let dying = async {
        fill_the_table(&mut writer, &mut written).await;
        mysql.kill().await.unwrap();
    };
    let reviving = async {
        while mysql.is_alive() || is_anything_mounted(ground) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        mysql.start_again().await.unwrap();
    };
    let ((event, died), ()) = tokio::join!(
        ground.during(disk_full("mysql"), timeout(SOON, dying)),
        reviving
    );
    died.expect("a table that must grow is refused");
    healed(&event);
    let mut reader = ground.connect().await.unwrap();
    assert_eq!(rows(&mut reader).await, written);
    reader.execute(INSERT).await.unwrap();
}

/// It sees that its disk is full no sooner than a minute after its start.
const SEEN_WITHIN: Duration = Duration::from_secs(90);

pub async fn a_full_disk_makes_the_broker_refuse_messages(ground: &Ground) {
    let mut producer = broker::connect(ground).await;
    let refused = until_refused(async |_| {
        let answer = producer.offer_message("full", false).await;
        match answer["code"].as_u64() {
            Some(0) => Ok(()),
            _ => Err(answer["remark"].to_string()),
        }
    });
    let fault = disk_full("rocketmq-broker");
    let (event, refused) = ground.during(fault, timeout(SEEN_WITHIN, refused)).await;
    let receipt = healed(&event);
    assert!(receipt.contains("so mark disk full"), "{receipt}");
    let refused = refused.unwrap();
    assert!(refused.contains("the broker's disk is full"), "{refused}");
    assert!(!is_anything_mounted(ground));
    producer.send_message("full", false).await;
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
