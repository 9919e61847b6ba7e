//! A Redis node's append-only file, moved without a restart as an operator does it: appending off, another folder,
//! appending on. When the disk is full, Redis goes on serving reads, refuses writes (MISCONF), and recovers by itself
//! when there is room again.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use redis::cmd;

use crate::environment::{EnvironmentError, RedisNode, Server, Volume};
use crate::faults::error::FaultError;
use crate::faults::site::Site;

/// What a node of a drill holds is written within milliseconds.
const REWRITE_TIMEOUT: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(super) struct RedisFiles {
    node: usize,
    home: PathBuf,
}

impl RedisFiles {
    pub async fn find(site: Site<'_>, name: &str) -> Result<Self, FaultError> {
        let nodes = &site.stack.redis.nodes;
        let missing = || FaultError::missing(format!("{name} is no Redis node"));
        let node = nodes.iter().find(|node| node.name() == name);
        let node = node.ok_or_else(missing)?;
        Ok(Self {
            node: node.index,
            home: folder(node).await?,
        })
    }

    fn node<'s>(&self, site: Site<'s>) -> &'s RedisNode {
        site.stack.redis.node(self.node)
    }

    pub async fn move_to(&self, volume: &Volume, site: Site<'_>) -> Result<(), FaultError> {
        let node = self.node(site);
        write_in(node, &volume.folder()).await?;
        let begun = Instant::now();
        // The new file is complete once the background process that writes it has ended.
        while let Err(error) = self.can_write(site).await {
            if begun.elapsed() > REWRITE_TIMEOUT {
                return Err(error);
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(())
    }

    /// Redis says that it could not write, and to how many it said so.
    pub async fn complaint(&self, site: Site<'_>) -> Result<String, FaultError> {
        let node = self.node(site);
        let persistence = node.info("persistence").await?;
        if !persistence.contains("aof_last_write_status:err") {
            return Err(FaultError::missing("Redis has not failed to write yet"));
        }
        let errors = node.info("errorstats").await?;
        let refused = errors.split("errorstat_MISCONF:count=").nth(1);
        let refused = refused.and_then(|rest| rest.lines().next()).unwrap_or("0");
        Ok(format!(
            "{} cannot write its append-only file (aof_last_write_status:err); {refused} writes refused with MISCONF \
             so far",
            node.name()
        ))
    }

    /// A node that was started again meanwhile is back in its old folder by itself.
    pub async fn move_home(
        &self,
        volume: &Volume,
        server: &Server,
        site: Site<'_>,
    ) -> Result<(), FaultError> {
        let node = self.node(site);
        if server.is_alive() && folder(node).await? == volume.folder() {
            self.can_write(site).await?;
            write_in(node, &self.home).await?;
        }
        Ok(())
    }

    /// It appends, to a file that is complete.
    pub async fn can_write(&self, site: Site<'_>) -> Result<(), FaultError> {
        let node = self.node(site);
        let persistence = node.info("persistence").await?;
        let wanted = [
            "aof_enabled:1",
            "aof_rewrite_in_progress:0",
            "aof_rewrite_scheduled:0",
            "aof_last_write_status:ok",
        ];
        let missing = wanted.iter().find(|line| !persistence.contains(**line));
        missing.map_or(Ok(()), |line| {
            let missing = format!("{}: not yet {line}", node.name());
            Err(FaultError::missing(missing))
        })
    }
}

/// Where it writes now.
async fn folder(node: &RedisNode) -> Result<PathBuf, FaultError> {
    let dir: (String, String) = node.query(cmd("CONFIG").arg("GET").arg("dir")).await?;
    Ok(PathBuf::from(dir.1))
}

/// The file is written anew in the other folder, from what the node holds.
async fn write_in(node: &RedisNode, folder: &Path) -> Result<(), FaultError> {
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
