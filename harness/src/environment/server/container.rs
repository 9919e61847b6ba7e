//! One life of a server as a container on the host's network. Removed when dropped.
//!
//! The run's scratch folder is mounted at its own path and the program runs as this user: configuration, data and
//! arguments are those of a native process, and a new life finds the data of the one before.

use std::fmt;
use std::fs::File;
use std::io::Write;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::StreamExt;
use nix::unistd::{getegid, geteuid};
use testcontainers::bollard::Docker;
use testcontainers::bollard::query_parameters::{
    KillContainerOptionsBuilder, LogsOptionsBuilder, RemoveContainerOptionsBuilder,
};
use testcontainers::core::Mount;
use testcontainers::runners::AsyncRunner;
use testcontainers::{
    ContainerAsync, ContainerRequest, GenericImage, ImageExt, TestcontainersError,
};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::super::engine::{self, Engine, EngineError, Image};
use super::super::error::EnvironmentError;
use super::super::procfs::{self, ProcessId};
use super::super::run_folder::RunFolder;
use super::{Ending, ServerSpec};

/// The engine hands over a dead container's last words at once.
const LAST_WORDS_TIMEOUT: Duration = Duration::from_secs(1);

pub(super) struct Container {
    id: String,
    docker: Docker,
    /// None: it ended before it could be looked at.
    process: Option<ProcessId>,
    ending: OnceLock<Ending>,
    log: tokio::sync::Mutex<JoinHandle<()>>,
    /// Its drop removes the container, which takes a runtime.
    handle: Option<Box<ContainerAsync<GenericImage>>>,
    runtime: Handle,
}

impl Container {
    /// Its output goes to `log`.
    pub async fn start(
        engine: &Engine,
        image: &Image,
        folder: &RunFolder,
        spec: &ServerSpec,
        log: File,
    ) -> Result<Self, EnvironmentError> {
        let failed = |error: &dyn fmt::Display| {
            let step = format!("starting a container of {}", image.name);
            EnvironmentError::step(&spec.component, &step, error)
        };
        let request = request(image, folder, spec);
        // A task of its own: a start that is given up half-way would leave its container behind.
        let started = tokio::spawn(start(
            engine.docker.clone(),
            request,
            engine.start_under_way(),
        ));
        let (handle, _under_way) = started.await.map_err(|e| failed(&e))?;
        let handle = handle.map_err(|e| failed(&e))?;
        let docker = engine.docker.clone();
        let id = handle.id().to_owned();
        let mut container = Self {
            process: None,
            ending: OnceLock::new(),
            log: tokio::spawn(follow(docker.clone(), id.clone(), log)).into(),
            handle: Some(Box::new(handle)),
            runtime: Handle::current(),
            id,
            docker,
        };
        container.process = container.find_process(&spec.component).await?;
        Ok(container)
    }

    /// Its process as this machine sees it; None when it has ended already.
    async fn find_process(&self, component: &str) -> Result<Option<ProcessId>, EnvironmentError> {
        let looking = |e| EnvironmentError::step(component, "looking at its container", e);
        let found = self.docker.inspect_container(&self.id, None).await;
        let state = found.map_err(looking)?.state.unwrap_or_default();
        let pid = state.pid.unwrap_or_default();
        let process = u32::try_from(pid).ok().filter(|pid| *pid > 0);
        let Some(process) = process else {
            return Ok(None);
        };
        // An engine elsewhere has other processes by these numbers: a control group has the container's name.
        if procfs::is_in_control_group(process, &self.id) {
            return Ok(ProcessId::of(process).ok());
        }
        if self.ending().await.is_some() {
            return Ok(None);
        }
        let component = component.to_owned();
        Err(EngineError::Elsewhere { component, pid }.into())
    }

    pub fn process(&self) -> Option<ProcessId> {
        self.process
    }

    /// 0 when it ended before it could be looked at.
    pub fn pid(&self) -> u32 {
        self.process.map_or(0, |process| process.pid)
    }

    pub fn is_running(&self) -> bool {
        self.process.is_some_and(ProcessId::is_alive)
    }

    /// As the engine tells it, with the last words in the log; None while it runs.
    pub async fn ending(&self) -> Option<Ending> {
        if self.is_running() {
            return None;
        }
        if let Some(ending) = self.ending.get() {
            return Some(*ending);
        }
        let found = self.docker.inspect_container(&self.id, None).await.ok()?;
        let state = found.state.unwrap_or_default();
        if state.running.unwrap_or(true) {
            return None;
        }
        let mut log = self.log.lock().await;
        if !log.is_finished() {
            // An error says that they are late: the log then ends without them.
            let _ = timeout(LAST_WORDS_TIMEOUT, &mut *log).await;
        }
        let ending = ending_of(state.exit_code.unwrap_or_default());
        Some(*self.ending.get_or_init(|| ending))
    }

    pub async fn signal(&self, name: &str) -> Result<(), String> {
        let options = KillContainerOptionsBuilder::new().signal(name).build();
        let sent = self.docker.kill_container(&self.id, Some(options)).await;
        sent.map_err(|e| e.to_string())
    }

    /// Returns when all its processes stand still.
    pub async fn pause(&self) -> Result<(), String> {
        let paused = self.docker.pause_container(&self.id).await;
        paused.map_err(|e| e.to_string())
    }

    pub async fn resume(&self) -> Result<(), String> {
        let resumed = self.docker.unpause_container(&self.id).await;
        resumed.map_err(|e| e.to_string())
    }

    /// Kills and removes it.
    pub async fn remove(mut self) {
        if let Some(handle) = self.handle.take()
            && let Err(error) = handle.rm().await
        {
            tracing::warn!(id = self.id, %error, "a container stays behind; `flashdrill clean` removes it");
        }
    }
}

/// What is asked of the engine.
fn request(image: &Image, folder: &RunFolder, spec: &ServerSpec) -> ContainerRequest<GenericImage> {
    let scratch = folder.path().display().to_string();
    let request = image
        .generic()
        .with_cmd(&spec.args)
        .with_network("host")
        .with_mount(Mount::bind_mount(&scratch, &scratch))
        .with_user(format!("{}:{}", geteuid(), getegid()))
        .with_working_dir(spec.dir.display().to_string())
        .with_container_name(format!("flashdrill-{}-{}", folder.name(), spec.component))
        .with_labels(engine::labels(&folder.name(), &spec.component))
        // Errors are told from each other by their English text.
        .with_env_var("LC_ALL", "C");
    let variables = spec.env.iter();
    variables.fold(request, |request, (name, value)| {
        request.with_env_var(name, value)
    })
}

/// Whoever drops the answer has the container removed, and after that its start is no longer under way.
async fn start(
    docker: Docker,
    request: ContainerRequest<GenericImage>,
    under_way: Arc<()>,
) -> (
    Result<ContainerAsync<GenericImage>, TestcontainersError>,
    Arc<()>,
) {
    let name = request.container_name().clone().unwrap_or_default();
    let started = request.start().await;
    if started.is_err() {
        // One that could be made but not started stays, and keeps its name from the next.
        let force = RemoveContainerOptionsBuilder::new().force(true).build();
        let _ = docker.remove_container(&name, Some(force)).await;
    }
    (started, under_way)
}

impl Drop for Container {
    fn drop(&mut self) {
        let _inside = self.runtime.enter();
        drop(self.handle.take());
    }
}

impl fmt::Debug for Container {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Container")
            .field("id", &self.id)
            .field("process", &self.process)
            .finish_non_exhaustive()
    }
}

/// The engine tells a signal as a shell does: 128 and its number.
fn ending_of(exit_code: i64) -> Ending {
    let code = i32::try_from(exit_code).unwrap_or(i32::MAX);
    match code {
        129..=192 => Ending {
            signal: Some(code - 128),
            code: None,
        },
        _ => Ending {
            signal: None,
            code: Some(code),
        },
    }
}

/// Copies the container's output until it ends.
async fn follow(docker: Docker, id: String, mut log: File) {
    let options = LogsOptionsBuilder::new()
        .follow(true)
        .stdout(true)
        .stderr(true);
    let mut lines = docker.logs(&id, Some(options.build()));
    while let Some(Ok(line)) = lines.next().await {
        if log.write_all(&line.into_bytes()).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_told_from_an_exit_code() {
        assert!(ending_of(137).was_killed());
        assert_eq!(ending_of(1).to_string(), "exit status 1");
        assert!(ending_of(0).is_success());
    }
}
