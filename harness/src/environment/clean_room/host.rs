//! What runs, is mounted, lies about or listens on this machine and belongs to one owner's runs.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::super::owner::Owner;
use super::super::ports;
use super::super::procfs;
use super::super::sockets::{inodes_of, sockets};
use super::super::{volume, write_limit};
use super::{Leftover, LeftoverKind};

/// Everything.
pub(super) fn scan(owner: Owner, runs: &Path) -> Vec<Leftover> {
    let mut found = processes(owner, &[]);
    found.extend(disk(owner, runs));
    found.extend(named(LeftoverKind::Folder, &folders(owner, runs)));
    found.extend(listening());
    found
}

/// What the faults of the disk leave when they are not healed.
pub(super) fn disk(owner: Owner, runs: &Path) -> Vec<Leftover> {
    let mut found = mounts(owner, runs);
    let groups = write_limit::groups_of(std::process::id());
    found.extend(named(LeftoverKind::WriteLimit, &groups));
    found
}

/// Processes that the owner's launcher started, and those that came of them wherever they went, but for the
/// process groups in `but`.
pub(super) fn processes(owner: Owner, but: &[u32]) -> Vec<Leftover> {
    let strange = |pid: &u32| procfs::group_of(*pid).is_some_and(|group| !but.contains(&group));
    owner
        .processes()
        .filter(strange)
        .map(|pid| {
            let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            Leftover::new(LeftoverKind::Process, format!("{pid}: {}", command.trim()))
        })
        .collect()
}

fn folders(owner: Owner, runs: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(runs).into_iter().flatten().flatten();
    let mut folders: Vec<_> = entries.map(|entry| entry.path()).collect();
    folders.retain(|folder| owner.owns_folder(folder));
    folders
}

/// File systems mounted below the owner's folders, which may be gone.
fn mounts(owner: Owner, runs: &Path) -> Vec<Leftover> {
    let mut places = volume::mounted_below(runs);
    places.retain(|place| {
        let below = place.strip_prefix(runs).ok();
        let folder = below.and_then(|below| below.components().next());
        folder.is_some_and(|folder| owner.owns_folder(Path::new(&folder)))
    });
    named(LeftoverKind::Mount, &places)
}

fn named(kind: LeftoverKind, paths: &[PathBuf]) -> Vec<Leftover> {
    let paths = paths.iter().map(|path| path.display());
    paths.map(|path| Leftover::new(kind, path)).collect()
}

/// Ports that this process had given to its servers and links, and somebody listens on: a link that was not
/// closed, or a stranger's process when there is no other holder.
fn listening() -> Vec<Leftover> {
    let given = ports::given();
    let mut open = sockets();
    open.retain(|socket| socket.is_listening && given.contains(&socket.local.port()));
    if open.is_empty() {
        return Vec::new();
    }
    let ours = inodes_of(std::process::id());
    let others = inodes_of_others();
    // Whoever won the race for a port that we wanted too is no leftover.
    open.retain(|socket| ours.contains(&socket.inode) || !others.contains(&socket.inode));
    open.iter()
        .map(|socket| Leftover::new(LeftoverKind::Port, socket.local))
        .collect()
}

fn inodes_of_others() -> HashSet<u64> {
    let own = std::process::id();
    procfs::pids()
        .filter(|pid| *pid != own)
        .flat_map(inodes_of)
        .collect()
}
