//! Small file systems of our own below a run's scratch folder, for faults of the disk. Making one takes root.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::mount::{MntFlags, MsFlags, mount, umount2};

use super::error::EnvironmentError;
use super::run_folder::file_error;

/// `CAP_SYS_ADMIN`'s number: root in a container may be without.
const MAY_MOUNT: u32 = 21;
const NONE: Option<&str> = None;

/// A file system in memory at a place of its own, with a folder for a server's files and a file that fills the rest.
#[derive(Debug)]
pub(crate) struct Volume(PathBuf);

impl Volume {
    /// The one to be mounted at `path`.
    pub fn at(path: PathBuf) -> Self {
        Self(path)
    }

    /// For the server's files.
    pub fn folder(&self) -> PathBuf {
        self.0.join("files")
    }

    fn filler(&self) -> PathBuf {
        self.0.join("filler")
    }

    /// Mounts it, with room for `bytes` and so many `files`.
    ///
    /// # Errors
    /// A folder cannot be made, or this user may not mount.
    pub fn mount(&self, bytes: u64, files: u64) -> Result<(), EnvironmentError> {
        make(&self.0)?;
        // Two folders and the filler are files too.
        let options = format!("size={bytes},nr_inodes={},mode=0700", files + 3);
        let kind = Some("tmpfs");
        mount(kind, &self.0, kind, MsFlags::empty(), Some(&*options))
            // What is mounted below must not appear wherever this does.
            .and_then(|()| mount(NONE, &self.0, NONE, MsFlags::MS_PRIVATE, NONE))
            .map_err(|errno| file_error("mount a small file system at", &self.0, errno.into()))?;
        make(&self.folder())
    }

    /// Lets a file from elsewhere appear in its folder; it stays where it is.
    ///
    /// # Errors
    /// It cannot be mounted.
    pub fn lend(&self, file: &Path) -> Result<(), EnvironmentError> {
        let place = self.folder().join(file.file_name().unwrap_or_default());
        File::create(&place).map_err(|source| file_error("create", &place, source))?;
        bind(file, &place)
    }

    /// Lets its folder appear in place of another, at once.
    ///
    /// # Errors
    /// It cannot be mounted.
    pub fn cover(&self, other: &Path) -> Result<(), EnvironmentError> {
        bind(&self.folder(), other)
    }

    /// Whether a process sees it: a container that was started before does not.
    pub fn is_seen_by(&self, pid: u32) -> bool {
        let id = |path: &Path| fs::metadata(path).map(|meta| (meta.dev(), meta.ino())).ok();
        let below_its_root = self.0.strip_prefix("/").unwrap_or(&self.0);
        let theirs = Path::new(&format!("/proc/{pid}/root")).join(below_its_root);
        id(&self.0).is_some_and(|ours| id(&theirs) == Some(ours))
    }

    /// Until nothing fits any more.
    ///
    /// # Errors
    /// It cannot be written to for another reason.
    pub fn fill(&self) -> Result<(), EnvironmentError> {
        let filler = self.filler();
        let filling = File::create(&filler).and_then(append_zeros);
        filling.map_err(|source| file_error("fill", &filler, source))
    }

    /// There is room again.
    pub fn make_room(&self) {
        // Gone already when it is made a second time.
        let _ = fs::remove_file(self.filler());
    }

    pub fn is_mounted(&self) -> bool {
        !mounted_below(&self.0).is_empty()
    }

    pub fn unmount(&self) {
        unmount_below(&self.0);
    }
}

fn make(folder: &Path) -> Result<(), EnvironmentError> {
    fs::create_dir_all(folder).map_err(|source| file_error("create", folder, source))
}

fn bind(from: &Path, to: &Path) -> Result<(), EnvironmentError> {
    let flags = MsFlags::MS_BIND | MsFlags::MS_REC;
    mount(Some(from), to, NONE, flags, NONE)
        .map_err(|errno| file_error("mount something over", to, errno.into()))
}

fn append_zeros(mut file: File) -> io::Result<()> {
    let block = vec![0; 1 << 20];
    loop {
        match file.write(&block) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::StorageFull => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

/// Whether this process may mount.
pub(crate) fn may_mount() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    effective
        .and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok())
        .is_some_and(|set| set & (1 << MAY_MOUNT) != 0)
}

/// Places at or below `path` that something is mounted at, the last mounted first.
pub(crate) fn mounted_below(path: &Path) -> Vec<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let points = mounts.lines().rev();
    let points = points.filter_map(|line| line.split(' ').nth(1));
    // The kernel writes a space as an octal number.
    let paths = points.map(|point| PathBuf::from(point.replace("\\040", " ")));
    paths.filter(|point| point.starts_with(path)).collect()
}

/// What keeps a file open there goes on with it; the place is free at once.
pub(crate) fn unmount_below(path: &Path) {
    for point in mounted_below(path) {
        if let Err(error) = umount2(&point, MntFlags::MNT_DETACH) {
            tracing::warn!(path = %point.display(), %error, "still mounted");
        }
    }
}
