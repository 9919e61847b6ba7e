//! One life of a server, whatever it runs as.

use std::fs::File;

use super::super::error::EnvironmentError;
use super::super::launcher::{Launcher, Runnable};
use super::container::Container;
use super::process::Process;
use super::{Ending, ServerSpec};

#[derive(Debug)]
pub(super) enum Life {
    Process(Process),
    Container(Container),
}

impl Life {
    pub async fn start(
        launcher: &Launcher,
        spec: &ServerSpec,
        log: File,
    ) -> Result<Self, EnvironmentError> {
        match launcher.runnable(&spec.program)? {
            Runnable::Program(program) => {
                Process::start(launcher, spec, program, log).map(Self::Process)
            }
            Runnable::Image(engine, image) => {
                let folder = &launcher.folder;
                let container = Container::start(engine, image, folder, spec, log).await?;
                if let Some(process) = container.process() {
                    folder.record(&spec.component, process)?;
                }
                Ok(Self::Container(container))
            }
        }
    }

    /// On this machine, also that of a container.
    pub fn pid(&self) -> u32 {
        match self {
            Self::Process(process) => process.pid(),
            Self::Container(container) => container.pid(),
        }
    }

    pub fn is_running(&self) -> bool {
        match self {
            Self::Process(process) => process.ending().is_none(),
            Self::Container(container) => container.is_running(),
        }
    }

    /// None while it runs, and until it is known how it ended.
    pub async fn ending(&self) -> Option<Ending> {
        match self {
            Self::Process(process) => process.ending(),
            Self::Container(container) => container.ending().await,
        }
    }

    pub async fn kill(&self) -> Result<(), String> {
        match self {
            Self::Process(process) => process.kill(),
            Self::Container(container) => container.signal("SIGKILL").await,
        }
    }

    pub async fn ask_to_end(&self) -> Result<(), String> {
        match self {
            Self::Process(process) => process.ask_to_end(),
            Self::Container(container) => container.signal("SIGTERM").await,
        }
    }

    pub async fn pause(&self) -> Result<(), String> {
        match self {
            Self::Process(process) => process.pause().await,
            Self::Container(container) => container.pause().await,
        }
    }

    pub async fn resume(&self) -> Result<(), String> {
        match self {
            Self::Process(process) => process.resume(),
            Self::Container(container) => container.resume().await,
        }
    }

    /// Removes what it leaves on the machine.
    pub async fn remove(self) {
        match self {
            Self::Process(process) => drop(process),
            Self::Container(container) => container.remove().await,
        }
    }
}
