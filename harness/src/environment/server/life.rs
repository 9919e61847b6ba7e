//! One life of a server, whatever it runs as.

use std::fs::{File, OpenOptions};
use std::path::Path;

use super::super::error::EnvironmentError;
use super::super::launcher::{Launcher, Runnable};
use super::super::run_folder::file_error;
use super::container::Container;
use super::process::Process;
use super::{Ending, ServerSpec};

#[derive(Debug)]
pub(super) enum Life {
    Process(Process),
    Container(Container),
    /// Somebody else runs it: it is used, and nothing is done to it. Whoever asks it learns whether it lives.
    Attached,
}

const NOT_OURS: &str = "flashdrill has not started it, it is only attached to it";

impl Life {
    pub async fn start(launcher: &Launcher, spec: &ServerSpec) -> Result<Self, EnvironmentError> {
        match launcher.runnable(&spec.program)? {
            Runnable::Program(program) => {
                let log = open(&spec.log)?;
                Process::start(launcher, spec, program, log).map(Self::Process)
            }
            Runnable::Image(engine, image) => {
                let (folder, log) = (&launcher.folder, open(&spec.log)?);
                let container = Container::start(engine, image, folder, spec, log).await?;
                if let Some(process) = container.process() {
                    folder.record(&spec.component, process)?;
                }
                Ok(Self::Container(container))
            }
            Runnable::Attached => Ok(Self::Attached),
        }
    }

    /// On this machine, also that of a container; None: it is not ours.
    pub fn pid(&self) -> Option<u32> {
        match self {
            Self::Process(process) => Some(process.pid()),
            Self::Container(container) => Some(container.pid()),
            Self::Attached => None,
        }
    }

    pub fn is_running(&self) -> bool {
        match self {
            Self::Process(process) => process.ending().is_none(),
            Self::Container(container) => container.is_running(),
            Self::Attached => true,
        }
    }

    /// None while it runs, and until it is known how it ended.
    pub async fn ending(&self) -> Option<Ending> {
        match self {
            Self::Process(process) => process.ending(),
            Self::Container(container) => container.ending().await,
            Self::Attached => None,
        }
    }

    pub async fn kill(&self) -> Result<(), String> {
        match self {
            Self::Process(process) => process.kill(),
            Self::Container(container) => container.signal("SIGKILL").await,
            Self::Attached => Err(NOT_OURS.to_owned()),
        }
    }

    pub async fn ask_to_end(&self) -> Result<(), String> {
        match self {
            Self::Process(process) => process.ask_to_end(),
            Self::Container(container) => container.signal("SIGTERM").await,
            Self::Attached => Err(NOT_OURS.to_owned()),
        }
    }

    pub async fn pause(&self) -> Result<(), String> {
        match self {
            Self::Process(process) => process.pause().await,
            Self::Container(container) => container.pause().await,
            Self::Attached => Err(NOT_OURS.to_owned()),
        }
    }

    pub async fn resume(&self) -> Result<(), String> {
        match self {
            Self::Process(process) => process.resume(),
            Self::Container(container) => container.resume().await,
            Self::Attached => Err(NOT_OURS.to_owned()),
        }
    }

    /// Removes what it leaves on the machine.
    pub async fn remove(self) {
        match self {
            Self::Process(process) => drop(process),
            Self::Container(container) => container.remove().await,
            Self::Attached => {}
        }
    }
}

fn open(log: &Path) -> Result<File, EnvironmentError> {
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(log)
        .map_err(|source| file_error("open", log, source))
}
