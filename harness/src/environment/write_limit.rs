//! Slows what one process writes to its disk: the kernel's block I/O controller lets so many writes a second
//! through. Works with cgroups of both versions and takes root.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::sys::stat::{major, minor};

use super::error::EnvironmentError;
use super::procfs;
use super::run_folder::file_error;

const V1: &str = "/sys/fs/cgroup/blkio";
const V2: &str = "/sys/fs/cgroup";
/// Groups are called `flashdrill-<owner>-<process>`.
const PREFIX: &str = "flashdrill-";

/// A process in a group of its own.
#[derive(Debug)]
pub(crate) struct WriteLimit {
    pid: u32,
    group: PathBuf,
    /// The group it came from.
    home: PathBuf,
}

impl WriteLimit {
    /// Limits what process `pid` writes to the disk that `folder` is on.
    ///
    /// # Errors
    /// The folder is not on a disk, this user may not, or the kernel has no such controller.
    pub fn set(pid: u32, folder: &Path, writes_per_s: u64) -> Result<Self, EnvironmentError> {
        let disk = disk_of(folder)?;
        let (root, file, limit) = if Path::new(V1).exists() {
            let file = "blkio.throttle.write_iops_device";
            (V1, file, format!("{disk} {writes_per_s}"))
        } else {
            write(&Path::new(V2).join("cgroup.subtree_control"), "+io")?;
            (V2, "io.max", format!("{disk} wiops={writes_per_s}"))
        };
        let root = Path::new(root);
        let group = root.join(format!("{PREFIX}{}-{pid}", std::process::id()));
        fs::create_dir_all(&group).map_err(|source| file_error("create", &group, source))?;
        let limited = Self {
            pid,
            home: home(root, pid)?,
            group,
        };
        write(&limited.group.join(file), &limit)?;
        limited.move_to(&limited.group)?;
        Ok(limited)
    }

    /// Repeating it changes nothing.
    ///
    /// # Errors
    /// The process cannot be moved back.
    pub fn lift(&self) -> Result<(), EnvironmentError> {
        if !self.group.exists() {
            return Ok(());
        }
        if procfs::cpu_ms(self.pid).is_some() {
            self.move_to(&self.home)?;
        }
        fs::remove_dir(&self.group).map_err(|source| file_error("remove", &self.group, source))
    }

    fn move_to(&self, group: &Path) -> Result<(), EnvironmentError> {
        write(&group.join("cgroup.procs"), &self.pid.to_string())
    }
}

impl Drop for WriteLimit {
    fn drop(&mut self) {
        if let Err(error) = self.lift() {
            tracing::warn!(%error, "a limited group stays behind");
        }
    }
}

/// The groups that the flashdrill process `owner` has made and not removed.
pub(crate) fn groups_of(owner: u32) -> Vec<PathBuf> {
    let prefix = format!("{PREFIX}{owner}-");
    let entries = [V1, V2]
        .into_iter()
        .filter_map(|root| fs::read_dir(root).ok());
    let entries = entries.flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix));
    named.map(|entry| entry.path()).collect()
}

/// Removes the groups whose owner is dead; those with a living process stay, because the kernel refuses.
pub(crate) fn sweep_groups() {
    for root in [V1, V2] {
        let groups = fs::read_dir(root).into_iter().flatten().flatten();
        for group in groups.filter(|entry| is_abandoned(&entry.file_name().to_string_lossy())) {
            let _ = fs::remove_dir(group.path());
        }
    }
}

fn is_abandoned(name: &str) -> bool {
    let owner = name
        .strip_prefix(PREFIX)
        .and_then(|ids| ids.split('-').next());
    let owner = owner.and_then(|pid| pid.parse().ok());
    owner.is_some_and(|pid: u32| procfs::cpu_ms(pid).is_none())
}

/// `major:minor` of the whole disk: limits are not for partitions.
fn disk_of(folder: &Path) -> Result<String, EnvironmentError> {
    let device = fs::metadata(folder).map_err(|source| file_error("read", folder, source))?;
    let (major, minor) = (major(device.dev()), minor(device.dev()));
    let entry = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
    let Ok(entry) = entry.canonicalize() else {
        let reason =
            io::Error::other("its file system is on no disk whose writes could be limited");
        return Err(file_error("slow down", folder, reason));
    };
    if !entry.join("partition").exists() {
        return Ok(format!("{major}:{minor}"));
    }
    let disk = entry.join("../dev");
    let disk = fs::read_to_string(&disk).map_err(|source| file_error("read", &disk, source))?;
    Ok(disk.trim().to_owned())
}

/// The group that the process is in: `7:blkio:/path`, with version 2 `0::/path`.
fn home(root: &Path, pid: u32) -> Result<PathBuf, EnvironmentError> {
    let file = PathBuf::from(format!("/proc/{pid}/cgroup"));
    let text = fs::read_to_string(&file).map_err(|source| file_error("read", &file, source))?;
    let controller = if root == Path::new(V1) { "blkio" } else { "" };
    let path = text.lines().find_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        controllers
            .split(',')
            .any(|name| name == controller)
            .then_some(path)
    });
    let path = path.unwrap_or("/").trim_start_matches('/');
    Ok(root.join(path))
}

fn write(file: &Path, text: &str) -> Result<(), EnvironmentError> {
    fs::write(file, text).map_err(|source| file_error("write", file, source))
}
