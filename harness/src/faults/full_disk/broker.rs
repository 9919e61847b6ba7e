//! The broker's commit log. The broker looks at the disk by the folder's path (`getDiskPartitionSpaceUsedPercent`), and
//! refuses every message when nine tenths are used; so the volume is put over the folder, and the files that the broker
//! writes to stay where they are. There is no room for another: it would be lost with the volume.

use std::fs;
use std::path::{Path, PathBuf};

use crate::environment::{EnvironmentError, LogSince, Server, Volume, volume};
use crate::faults::error::FaultError;
use crate::faults::site::Site;

/// What the log of its store says when it has looked and found it full, and when there is room again.
const FULL: &str = "so mark disk full";
const ROOM: &str = "so mark disk ok";

#[derive(Debug)]
pub(super) struct BrokerFiles {
    home: PathBuf,
    files: Vec<PathBuf>,
    log: LogSince,
    pid: Option<u32>,
}

impl BrokerFiles {
    pub fn find(site: Site<'_>) -> Result<Self, FaultError> {
        let rocketmq = &site.stack.rocketmq;
        let home = rocketmq.commit_log();
        Ok(Self {
            files: files_in(&home)?,
            home,
            log: LogSince::now(rocketmq.store_log()),
            pid: rocketmq.broker.pid(),
        })
    }

    pub fn count(&self) -> u64 {
        self.files.len() as u64
    }

    pub fn move_to(&self, volume: &Volume) -> Result<(), FaultError> {
        for file in &self.files {
            volume.lend(file)?;
        }
        Ok(volume.cover(&self.home)?)
    }

    pub fn complaint(&self) -> Result<String, FaultError> {
        let said = self.last_words();
        let full = said.filter(|line| line.contains(FULL)).ok_or_else(|| {
            let missing =
                "the broker has not seen it yet: it looks from a minute after its start on";
            FaultError::missing(missing)
        })?;
        let (_, words) = full.split_once(" - ").unwrap_or(("", &full));
        Ok(format!("the broker takes no messages: {words}"))
    }

    pub fn move_home(&self) {
        volume::unmount_below(&self.home);
    }

    /// It has seen that there is room, unless it knows of nothing else: it was started again.
    pub fn can_write(&self, server: &Server) -> Result<(), FaultError> {
        let believes_full = self.last_words().is_some_and(|line| line.contains(FULL));
        if believes_full && server.pid() == self.pid {
            return Err(FaultError::missing(
                "the broker has not seen that there is room",
            ));
        }
        Ok(())
    }

    /// The last that it has said of its disk since.
    fn last_words(&self) -> Option<String> {
        let said = self.log.text();
        let mut lines = said.lines().rev();
        let last = lines.find(|line| line.contains(FULL) || line.contains(ROOM));
        last.map(str::to_owned)
    }
}

fn files_in(folder: &Path) -> Result<Vec<PathBuf>, EnvironmentError> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect);
    let entries: Vec<fs::DirEntry> =
        entries.map_err(|e| EnvironmentError::step("rocketmq-broker", "listing its files", e))?;
    Ok(entries.iter().map(fs::DirEntry::path).collect())
}
