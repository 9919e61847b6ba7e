//! Cleans up after runs whose owner is dead: kills what they left by recorded id and by the owner's mark, removes
//! their folders. A live owner's run is never touched.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::{Pid, geteuid};

use super::engine;
use super::owner::Owner;
use super::procfs::{self, boot_id};
use super::run_folder::{Registry, runs_folder};
use super::{volume, write_limit};

/// A folder without a registry is being made, or its owner died within microseconds.
const UNREGISTERED_AGE: Duration = Duration::from_secs(60);

/// What a sweep did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    /// `component (pid)` of every process killed, `component (container)` of every container removed.
    pub killed: Vec<String>,
    /// Names of the run folders removed.
    pub removed: Vec<String>,
}

/// Sweeps the machine's containers and run folders, as every start does.
pub async fn sweep() -> Swept {
    // Containers first: they write into the folders.
    let mut killed = engine::sweep().await;
    let swept = sweep_in(&runs_folder());
    killed.extend(kill_marked());
    // Once their processes are dead.
    write_limit::sweep_groups();
    killed.extend(swept.killed);
    Swept { killed, ..swept }
}

/// Processes that left their group, as the registry does not know them.
fn kill_marked() -> Vec<String> {
    let orphans = procfs::pids().filter(|pid| {
        procfs::group_of(*pid).is_some()
            && Owner::of_process(*pid).is_some_and(|owner| !owner.is_alive())
    });
    orphans
        .map(|pid| {
            // ESRCH only says that it is gone already.
            let _ = kill(Pid::from_raw(pid.cast_signed()), Signal::SIGKILL);
            format!("a process of a dead run ({pid})")
        })
        .collect()
}

fn sweep_in(runs: &Path) -> Swept {
    let mut swept = Swept::default();
    let Ok(entries) = fs::read_dir(runs) else {
        return swept;
    };
    for folder in entries.flatten().map(|entry| entry.path()) {
        if !is_ours(&folder) || !is_abandoned(&folder, &mut swept.killed) {
            continue;
        }
        volume::unmount_below(&folder);
        match fs::remove_dir_all(&folder) {
            Ok(()) => swept.removed.push(
                folder
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned(),
            ),
            // Another sweep may have been quicker.
            Err(error) => tracing::debug!(folder = %folder.display(), %error, "not removed"),
        }
    }
    swept
}

/// Another user's registry must not tell us what to kill.
fn is_ours(folder: &Path) -> bool {
    fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_dir() && meta.uid() == geteuid().as_raw())
}

/// True when nobody owns the folder any more; its processes are dead by then.
fn is_abandoned(folder: &Path, killed: &mut Vec<String>) -> bool {
    let Some(registry) = Registry::read(folder) else {
        return is_old(folder);
    };
    if registry.is_owned() {
        return false;
    }
    if registry.boot_id != boot_id() {
        return true;
    }
    for child in registry
        .children
        .iter()
        .filter(|child| child.process.is_alive())
    {
        kill_group(child.process.pid);
        killed.push(format!("{} ({})", child.component, child.process.pid));
    }
    wait_for_death(&registry);
    true
}

fn is_old(folder: &Path) -> bool {
    fs::metadata(folder)
        .and_then(|meta| meta.modified())
        .is_ok_and(|made| {
            SystemTime::now()
                .duration_since(made)
                .is_ok_and(|age| age > UNREGISTERED_AGE)
        })
}

pub(crate) fn kill_group(pid: u32) {
    // ESRCH only says that the group is gone already.
    let _ = killpg(Pid::from_raw(pid.cast_signed()), Signal::SIGKILL);
}

/// Files of a process that is still dying would make the folder's removal fail.
fn wait_for_death(registry: &Registry) {
    for _ in 0..500 {
        if !registry
            .children
            .iter()
            .any(|child| child.process.is_alive())
        {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    use super::super::procfs::ProcessId;
    use super::super::run_folder::{REGISTRY_FILE, RunFolder};
    use super::*;

    fn sleeper() -> Child {
        Command::new("sleep")
            .arg("600")
            .process_group(0)
            .spawn()
            .unwrap()
    }

    fn dead_owner() -> ProcessId {
        let mut child = Command::new("true").spawn().unwrap();
        let id = ProcessId::of(child.id()).unwrap();
        child.wait().unwrap();
        id
    }

    #[test]
    fn kills_for_dead_owners_and_leaves_live_ones_alone() {
        let runs = std::env::temp_dir().join(format!("flashdrill-sweep-{}", std::process::id()));
        let (mut orphan, mut kept) = (sleeper(), sleeper());
        let live = RunFolder::create_in(&runs, "live").unwrap();
        live.record("server", ProcessId::of(kept.id()).unwrap())
            .unwrap();

        let dead = RunFolder::create_in(&runs, "dead").unwrap();
        dead.record("server", ProcessId::of(orphan.id()).unwrap())
            .unwrap();
        // A number that was given to somebody else since: must not be killed.
        let mut reused = ProcessId::of(kept.id()).unwrap();
        reused.started_ticks -= 1;
        dead.record("reused", reused).unwrap();
        let file = dead.path().join(REGISTRY_FILE);
        let mut registry: Registry = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        registry.owner = dead_owner();
        fs::write(&file, serde_json::to_vec(&registry).unwrap()).unwrap();

        let swept = sweep_in(&runs);
        assert_eq!(swept.killed, [format!("server ({})", orphan.id())]);
        assert_eq!(swept.removed.len(), 1);
        assert!(!dead.path().exists() && live.path().exists());
        assert!(orphan.wait().unwrap().code().is_none(), "ended by a signal");
        assert!(kept.try_wait().unwrap().is_none());
        assert_eq!(sweep_in(&runs), Swept::default());

        kept.kill().unwrap();
        kept.wait().unwrap();
        drop(live);
        fs::remove_dir_all(&runs).unwrap();
    }
}
