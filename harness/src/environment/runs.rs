//! The runs that are alive on this machine, as their registries tell.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;

use super::procfs::ProcessState;
use super::run_folder::{Child, Registry, runs_folder};

/// A run whose owner lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveRun {
    pub name: String,
    /// Its scratch folder.
    pub folder: PathBuf,
    pub owner_pid: u32,
    /// The REST API of its fault proxy.
    pub proxy: Option<SocketAddr>,
    pub servers: Vec<LiveServer>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveServer {
    pub component: String,
    pub pid: u32,
    pub state: ProcessState,
}

/// All of them, the oldest first.
pub fn live_runs() -> Vec<LiveRun> {
    let entries = fs::read_dir(runs_folder()).into_iter().flatten().flatten();
    let mut runs: Vec<(u64, LiveRun)> = entries.filter_map(|entry| read(entry.path())).collect();
    runs.sort_by_key(|(started_ticks, run)| (*started_ticks, run.name.clone()));
    runs.into_iter().map(|(_, run)| run).collect()
}

/// With the start of its owner.
fn read(folder: PathBuf) -> Option<(u64, LiveRun)> {
    let registry = Registry::read(&folder).filter(Registry::is_owned)?;
    let server = |child: Child| LiveServer {
        state: child.process.state(),
        component: child.component,
        pid: child.process.pid,
    };
    let run = LiveRun {
        name: folder.file_name()?.to_string_lossy().into_owned(),
        owner_pid: registry.owner.pid,
        proxy: registry.proxy,
        servers: registry.children.into_iter().map(server).collect(),
        folder,
    };
    Some((registry.owner.started_ticks, run))
}
