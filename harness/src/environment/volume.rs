//! Small file systems of our own below a run's scratch folder, for faults of the disk. Making one takes root.

use std::fs;
use std::path::{Path, PathBuf};

use nix::mount::{MntFlags, MsFlags, mount, umount2};

use super::error::EnvironmentError;
use super::run_folder::file_error;

/// Mounts a file system in memory with room for `bytes` at `path`, a folder that is made.
///
/// # Errors
/// The folder cannot be made, or this user may not mount.
pub(crate) fn mount_small(path: &Path, bytes: u64) -> Result<(), EnvironmentError> {
    fs::create_dir_all(path).map_err(|source| file_error("create", path, source))?;
    let options = format!("size={bytes},mode=0700");
    let kind = Some("tmpfs");
    mount(kind, path, kind, MsFlags::empty(), Some(options.as_str()))
        .map_err(|errno| file_error("mount a small file system at", path, errno.into()))
}

/// Folders below `folder` that a file system is mounted at.
pub(crate) fn mounted_below(folder: &Path) -> Vec<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let points = mounts.lines().filter_map(|line| line.split(' ').nth(1));
    // The kernel writes a space as an octal number.
    let paths = points.map(|point| PathBuf::from(point.replace("\\040", " ")));
    paths.filter(|path| path.starts_with(folder)).collect()
}

/// What keeps a file open there goes on with it; the folder is free at once.
pub(crate) fn unmount_below(folder: &Path) {
    for path in mounted_below(folder) {
        if let Err(error) = umount2(&path, MntFlags::MNT_DETACH) {
            tracing::warn!(path = %path.display(), %error, "still mounted");
        }
    }
}
