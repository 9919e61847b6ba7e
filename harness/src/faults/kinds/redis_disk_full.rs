//! The disk that a Redis primary writes its append-only file to is full.
//!
//! The file is moved to a small volume of our own without a restart, as an operator does it (appending off, another
//! folder, appending on), and the volume is then filled. What Redis does next is its own: it goes on serving reads,
//! refuses writes (MISCONF), and recovers by itself when there is room again.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use redis::cmd;

use crate::drill::range::Count;
use crate::environment::{EnvironmentError, RedisNode, volume};
use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, Need, kind};
use crate::faults::site::Site;

kind! {
    /// Fills the disk of a SKU's Redis primary: its append-only file is moved to a small volume that is then filled,
    /// so that writes are refused; room again, and moved back, when healed. Linux, root.
    pub struct RedisDiskFull {
        /// Number of the SKU whose primary it is, from 1.
        pub sku: Count,
        /// Size of the volume, MiB: what the node holds must fit.
        pub volume_mib: u64 = 64,
    }
}

const FILLER: &str = "filler";
/// What a node of a drill holds is written within milliseconds.
const REWRITE_TIMEOUT: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The node, and the folder its file came from.
#[derive(Debug)]
pub(crate) struct Victim {
    index: usize,
    home: PathBuf,
}

impl Victim {
    fn node<'s>(&self, site: Site<'s>) -> &'s RedisNode {
        site.stack.redis.node(self.index)
    }

    fn volume(&self) -> PathBuf {
        self.home.join("volume")
    }
}

fn found(victim: &mut Option<Victim>) -> Result<&mut Victim, FaultError> {
    let missing = || FaultError::missing("no primary was found");
    victim.as_mut().ok_or_else(missing)
}

impl Kind for RedisDiskFull {
    type State = Option<Victim>;
    const NEEDS: &'static [Need] = &[Need::OwnServers, Need::Root];

    async fn applicable(
        &self,
        victim: &mut Self::State,
        site: Site<'_>,
    ) -> Result<String, FaultError> {
        let (_, node) = site.primary_of(self.sku).await?;
        *victim = Some(Victim {
            index: node.index,
            home: folder(node).await?,
        });
        let size = self.volume_mib;
        Ok(format!(
            "{}, primary of SKU {}: append-only file on a volume of {size} MiB, filled",
            node.name(),
            site.sku(self.sku.get())?
        ))
    }

    async fn inject(&self, victim: &mut Self::State, site: Site<'_>) -> Result<(), FaultError> {
        let victim = found(victim)?;
        let (node, volume) = (victim.node(site), victim.volume());
        volume::mount_small(&volume, self.volume_mib << 20)?;
        move_to(node, &volume).await?;
        is_there(node, &volume)?;
        wait_for_the_rewrite(node).await?;
        let filler = volume.join(FILLER);
        fill(&filler).map_err(|e| EnvironmentError::step(node.name(), "filling its volume", e))?;
        Ok(())
    }

    /// Redis says itself that it could not write, and to how many it said so.
    async fn receipt(
        &self,
        victim: &mut Self::State,
        site: Site<'_>,
    ) -> Result<String, FaultError> {
        let node = found(victim)?.node(site);
        let persistence = node.info("persistence").await?;
        if !persistence.contains("aof_last_write_status:err") {
            return Err(FaultError::missing("Redis has not failed to write yet"));
        }
        let errors = node.info("errorstats").await?;
        let refused = errors.split("errorstat_MISCONF:count=").nth(1);
        let refused = refused.and_then(|rest| rest.lines().next()).unwrap_or("0");
        Ok(format!(
            "{} cannot write its append-only file (aof_last_write_status:err); {refused} writes refused with \
             MISCONF so far",
            node.name()
        ))
    }

    /// A node that was started again meanwhile is back in its old folder by itself.
    async fn heal(&self, victim: &mut Self::State, site: Site<'_>) -> Result<(), FaultError> {
        let Some(victim) = victim else {
            return Ok(());
        };
        let (node, volume) = (victim.node(site), victim.volume());
        // Gone already when this heal is not the first.
        let _ = fs::remove_file(volume.join(FILLER));
        if node.server.is_alive() && folder(node).await? == volume {
            can_write(node).await?;
            move_to(node, &victim.home).await?;
        }
        volume::unmount_below(&volume);
        Ok(())
    }

    async fn is_healed(&self, victim: &Self::State, site: Site<'_>) -> Result<(), FaultError> {
        let Some(victim) = victim else {
            return Ok(());
        };
        if !volume::mounted_below(&victim.volume()).is_empty() {
            return Err(FaultError::missing("its volume is still mounted"));
        }
        can_write(victim.node(site)).await
    }
}

/// Where it writes now.
async fn folder(node: &RedisNode) -> Result<PathBuf, FaultError> {
    let dir: (String, String) = node.query(cmd("CONFIG").arg("GET").arg("dir")).await?;
    Ok(PathBuf::from(dir.1))
}

/// The file is written anew in the other folder, from what the node holds.
async fn move_to(node: &RedisNode, folder: &Path) -> Result<(), FaultError> {
    let files = folder.join("appendonlydir");
    fs::create_dir_all(&files)
        .map_err(|e| EnvironmentError::step(node.name(), "making a folder for its file", e))?;
    let folder = folder.display().to_string();
    for (name, value) in [
        ("appendonly", "no"),
        ("dir", &folder),
        ("appendonly", "yes"),
    ] {
        let mut set = cmd("CONFIG");
        set.arg("SET").arg(name).arg(value);
        node.query::<()>(&set).await?;
    }
    Ok(())
}

/// A container that was started before the mount does not see it.
fn is_there(node: &RedisNode, volume: &Path) -> Result<(), FaultError> {
    let step = |e: io::Error| EnvironmentError::step(node.name(), "looking at its folder", e);
    let pid = node.server.pid().unwrap_or_default();
    let seen = fs::metadata(format!("/proc/{pid}/cwd")).map_err(step)?;
    let ours = fs::metadata(volume).map_err(step)?;
    if (seen.dev(), seen.ino()) == (ours.dev(), ours.ino()) {
        return Ok(());
    }
    Err(FaultError::missing(format!(
        "{} does not see the volume",
        node.name()
    )))
}

/// Appends until nothing fits any more.
fn fill(path: &Path) -> io::Result<()> {
    let mut file = File::create(path)?;
    let block = vec![0; 1 << 20];
    loop {
        match file.write(&block) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::StorageFull => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

/// The new file is complete once the background process that writes it has ended.
async fn wait_for_the_rewrite(node: &RedisNode) -> Result<(), FaultError> {
    let begun = Instant::now();
    while let Err(error) = can_write(node).await {
        if begun.elapsed() > REWRITE_TIMEOUT {
            return Err(error);
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(())
}

/// It appends, to a file that is complete.
async fn can_write(node: &RedisNode) -> Result<(), FaultError> {
    let persistence = node.info("persistence").await?;
    let wanted = [
        "aof_enabled:1",
        "aof_rewrite_in_progress:0",
        "aof_rewrite_scheduled:0",
        "aof_last_write_status:ok",
    ];
    let mut missing = wanted.iter().filter(|line| !persistence.contains(**line));
    match missing.next() {
        None => Ok(()),
        Some(line) => Err(FaultError::missing(format!(
            "{}: not yet {line}",
            node.name()
        ))),
    }
}
