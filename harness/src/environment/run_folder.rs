//! A run's scratch folder and the registry in it: who owns the run, and which processes it started.
//!
//! The registry is what lets a later start clean up after an owner that was killed.

use std::fs::{self, Permissions};
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::error::EnvironmentError;
use super::procfs::{ProcessId, boot_id};
use super::volume;

pub(crate) const REGISTRY_FILE: &str = "registry.json";

/// What is written in `registry.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Registry {
    pub boot_id: String,
    pub owner: ProcessId,
    pub children: Vec<Child>,
    /// The REST API of the run's fault proxy.
    #[serde(default)]
    pub proxy: Option<SocketAddr>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Child {
    pub component: String,
    /// Leads its own process group.
    pub process: ProcessId,
}

impl Registry {
    /// Of the run whose scratch folder is `folder`; None: there is none, or it is damaged.
    pub fn read(folder: &Path) -> Option<Self> {
        let text = fs::read(folder.join(REGISTRY_FILE)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// The flashdrill process that made it runs still.
    pub fn is_owned(&self) -> bool {
        self.boot_id == boot_id() && self.owner.is_alive()
    }
}

/// `<tmp>/flashdrill/<run>/`, removed on drop.
#[derive(Debug)]
pub(crate) struct RunFolder {
    path: PathBuf,
    registry: Mutex<Registry>,
}

/// Where the folders of all runs are.
pub(crate) fn runs_folder() -> PathBuf {
    std::env::temp_dir().join("flashdrill")
}

impl RunFolder {
    /// # Errors
    /// The folder cannot be made.
    pub fn create(name: &str) -> Result<Self, EnvironmentError> {
        Self::create_in(&runs_folder(), name)
    }

    pub fn create_in(runs: &Path, name: &str) -> Result<Self, EnvironmentError> {
        make_shared(runs).map_err(|source| file_error("create", runs, source))?;
        let pid = std::process::id();
        let owner =
            ProcessId::of(pid).map_err(|source| file_error("read", "/proc".as_ref(), source))?;
        let registry = Registry {
            boot_id: boot_id(),
            owner,
            children: Vec::new(),
            proxy: None,
        };
        // A run of the same name may be live in this very process: the number makes it unique.
        for number in 0.. {
            let path = runs.join(format!("{}-{pid}-{number}", safe(name)));
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {
                    let folder = Self {
                        path,
                        registry: Mutex::new(registry),
                    };
                    folder.change(|_| {})?;
                    return Ok(folder);
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(file_error("create", &path, source)),
            }
        }
        unreachable!("an endless range ends by returning")
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Unique on this machine while the run lives.
    pub fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// A subfolder for one component.
    pub fn make(&self, component: &str) -> Result<PathBuf, EnvironmentError> {
        let path = self.path.join(component);
        fs::create_dir_all(&path).map_err(|source| file_error("create", &path, source))?;
        Ok(path)
    }

    /// Records a started process; an earlier one of the same component is forgotten.
    pub fn record(&self, component: &str, process: ProcessId) -> Result<(), EnvironmentError> {
        self.change(|registry| {
            registry
                .children
                .retain(|child| child.component != component);
            registry.children.push(Child {
                component: component.to_owned(),
                process,
            });
        })
    }

    pub fn record_proxy(&self, api: SocketAddr) -> Result<(), EnvironmentError> {
        self.change(|registry| registry.proxy = Some(api))
    }

    /// A component that has done its work and is no server of the run.
    pub fn forget(&self, component: &str) -> Result<(), EnvironmentError> {
        self.change(|registry| {
            registry
                .children
                .retain(|child| child.component != component);
        })
    }

    /// The file is replaced whole: a reader never sees half of it.
    fn change(&self, change: impl FnOnce(&mut Registry)) -> Result<(), EnvironmentError> {
        let mut registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut registry);
        let path = self.path.join(REGISTRY_FILE);
        let draft = self.path.join("registry.new");
        let text = serde_json::to_vec_pretty(&*registry).expect("plain fields always serialise");
        fs::write(&draft, text)
            .and_then(|()| fs::rename(&draft, &path))
            .map_err(|source| file_error("write", &path, source))
    }

    /// Removes the folder; it may be gone already.
    pub fn remove(&self) {
        volume::unmount_below(&self.path);
        if let Err(error) = fs::remove_dir_all(&self.path)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(path = %self.path.display(), %error, "scratch folder stays behind");
        }
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Users of one machine share the folder, as they share /tmp.
fn make_shared(runs: &Path) -> io::Result<()> {
    match fs::create_dir(runs) {
        Ok(()) => fs::set_permissions(runs, Permissions::from_mode(0o1777)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// A drill's name is path-like; a folder's is not.
fn safe(name: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '.' {
            c
        } else {
            '-'
        }
    };
    name.chars().map(plain).collect()
}

pub(crate) fn file_error(action: &'static str, path: &Path, source: io::Error) -> EnvironmentError {
    EnvironmentError::File {
        action,
        path: path.to_owned(),
        source,
    }
}
