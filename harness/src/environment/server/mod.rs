//! One server of the stack: started, killed, paused, started again, with its log and its ending.

mod container;
mod ending;
mod life;
mod log_since;
mod log_tail;
mod process;
mod spec;

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub use ending::Ending;
pub(crate) use log_since::LogSince;
pub use log_tail::LogTail;
pub(crate) use spec::{Program, ServerSpec};

use self::life::Life;
use super::error::EnvironmentError;
use super::launcher::Launcher;
use super::procfs;

/// How often an ending server is looked at.
const WAIT_STEP: Duration = Duration::from_millis(5);
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// A component's server, over all its lives. Killed when dropped, unless somebody else runs it.
#[derive(Debug)]
pub struct Server {
    spec: ServerSpec,
    launcher: Arc<Launcher>,
    state: Mutex<State>,
    /// Held while it is started again: two starts at once are one.
    starting: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    /// The newest life, which may have ended.
    life: Option<Arc<Life>>,
    is_paused: bool,
    /// CPU used by earlier lives of this component.
    cpu_ms_before: u64,
    /// Length of the log when this life began: an earlier life's last words are not this one's.
    log_from: u64,
}

impl Server {
    pub(crate) async fn start(
        launcher: &Arc<Launcher>,
        spec: ServerSpec,
    ) -> Result<Arc<Self>, EnvironmentError> {
        let server = Self {
            spec,
            launcher: Arc::clone(launcher),
            state: Mutex::default(),
            starting: tokio::sync::Mutex::default(),
        };
        server.start_again().await?;
        Ok(Arc::new(server))
    }

    /// Starts it as it was started first; a no-op while it lives.
    ///
    /// # Errors
    /// The program cannot be run, or its log cannot be opened.
    pub async fn start_again(&self) -> Result<(), EnvironmentError> {
        let _alone = self.starting.lock().await;
        if self.is_alive() {
            return Ok(());
        }
        let log_from = fs::metadata(&self.spec.log).map_or(0, |meta| meta.len());
        self.remove_life().await;
        let life = Life::start(&self.launcher, &self.spec).await?;
        let mut state = self.state();
        state.life = Some(Arc::new(life));
        state.is_paused = false;
        state.log_from = log_from;
        Ok(())
    }

    /// Its name in logs and reports.
    pub fn component(&self) -> &str {
        &self.spec.component
    }

    /// None while it is dead, or when somebody else runs it.
    pub fn pid(&self) -> Option<u32> {
        self.running()?.pid()
    }

    pub fn is_alive(&self) -> bool {
        self.running().is_some()
    }

    /// How its last life ended; None while it lives.
    pub async fn ending(&self) -> Option<Ending> {
        self.life()?.ending().await
    }

    /// SIGKILL; returns how it ended.
    ///
    /// # Errors
    /// It was dead before, or does not die within five seconds.
    pub async fn kill(&self) -> Result<Ending, EnvironmentError> {
        let life = self.running_or("kill -9").await?;
        let used = life.pid().and_then(procfs::cpu_ms).unwrap_or(0);
        life.kill().await.map_err(|e| self.step("kill -9", e))?;
        let ending = self.ended(KILL_TIMEOUT).await;
        let ending = ending.ok_or_else(|| self.step("kill -9", "it lives on"))?;
        let mut state = self.state();
        state.cpu_ms_before += used;
        state.is_paused = false;
        Ok(ending)
    }

    /// It stands still, connections open, until it is resumed.
    ///
    /// # Errors
    /// It is dead.
    pub async fn pause(&self) -> Result<(), EnvironmentError> {
        let life = self.running_or("pause").await?;
        life.pause().await.map_err(|e| self.step("pause", e))?;
        self.state().is_paused = true;
        Ok(())
    }

    /// A no-op when it is not paused.
    ///
    /// # Errors
    /// It cannot be resumed.
    pub async fn resume(&self) -> Result<(), EnvironmentError> {
        if !self.is_paused() {
            return Ok(());
        }
        let life = self.running_or("resume").await?;
        life.resume().await.map_err(|e| self.step("resume", e))?;
        self.state().is_paused = false;
        Ok(())
    }

    /// By [`Self::pause`]; a server that died since is not.
    pub fn is_paused(&self) -> bool {
        self.is_alive() && self.state().is_paused
    }

    /// SIGTERM, then SIGKILL when it has not ended within `grace`.
    pub async fn terminate(&self, grace: Duration) {
        let Some(life) = self.running() else { return };
        // An error says that it ended in between.
        let _ = life.ask_to_end().await;
        if self.ended(grace).await.is_none() {
            let _ = self.kill().await;
        }
    }

    /// Kills it if it lives, and removes what its last life left on the machine; it can be started again.
    pub(crate) async fn remove(&self) {
        // An error says that it is dead, which is what is wanted.
        let _ = self.kill().await;
        self.remove_life().await;
    }

    async fn remove_life(&self) {
        let life = self.state().life.take();
        if let Some(life) = life.and_then(Arc::into_inner) {
            life.remove().await;
        }
    }

    /// Waits for its end; None: it lives on after `timeout`.
    pub async fn ended(&self, timeout: Duration) -> Option<Ending> {
        let deadline = Instant::now() + timeout;
        loop {
            match self.ending().await {
                None if Instant::now() < deadline => tokio::time::sleep(WAIT_STEP).await,
                ending => return ending,
            }
        }
    }

    /// CPU time of all its lives, milliseconds; None when somebody else runs it.
    pub fn cpu_ms(&self) -> Option<u64> {
        let now = match self.running() {
            Some(life) => procfs::cpu_ms(life.pid()?).unwrap_or(0),
            None => 0,
        };
        Some(self.state().cpu_ms_before + now)
    }

    pub(crate) fn port(&self) -> u16 {
        self.spec.port
    }

    /// What the log of this life ends with.
    pub fn log_tail(&self) -> LogTail {
        LogTail::read(&self.spec.log, self.state().log_from)
    }

    /// What the log will say from now on.
    pub(crate) fn log_from_now(&self) -> LogSince {
        LogSince::now(self.spec.log.clone())
    }

    /// Where it keeps its files.
    pub(crate) fn folder(&self) -> &Path {
        &self.spec.dir
    }

    fn life(&self) -> Option<Arc<Life>> {
        self.state().life.clone()
    }

    fn running(&self) -> Option<Arc<Life>> {
        self.life().filter(|life| life.is_running())
    }

    async fn running_or(&self, step: &str) -> Result<Arc<Life>, EnvironmentError> {
        match (self.running(), self.ending().await) {
            (Some(life), _) => Ok(life),
            (None, Some(ending)) => Err(self.step(step, format!("dead already: {ending}"))),
            (None, None) => Err(self.step(step, "dead already")),
        }
    }

    fn step(&self, step: &str, reason: impl std::fmt::Display) -> EnvironmentError {
        EnvironmentError::step(&self.spec.component, step, reason)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::launcher::Place;
    use super::*;

    #[tokio::test]
    async fn a_paused_server_stands_still_can_be_killed_and_starts_anew() {
        let logs = std::env::temp_dir().join(format!("flashdrill-pause-{}", std::process::id()));
        let launcher = Arc::new(Launcher::new("pause", &logs, Place::native().unwrap()).unwrap());
        let spec = ServerSpec {
            component: "sleeper".to_owned(),
            program: Program::Path("sleep".into()),
            args: vec!["600".to_owned()],
            env: [].into(),
            dir: launcher.folder.make("sleeper").unwrap(),
            log: launcher.log_file("sleeper"),
            port: 0,
        };
        let server = Server::start(&launcher, spec).await.unwrap();
        let first = server.pid().unwrap();
        server.pause().await.unwrap();
        assert!(server.is_paused() && procfs::is_stopped(first));
        server.resume().await.unwrap();
        assert!(!server.is_paused() && !procfs::is_stopped(first));

        server.pause().await.unwrap();
        assert!(server.kill().await.unwrap().was_killed());
        assert!(!server.is_alive() && !server.is_paused());
        let error = server.pause().await.unwrap_err().to_string();
        assert_eq!(error, "sleeper: pause failed: dead already: signal 9");

        server.start_again().await.unwrap();
        assert!(server.is_alive() && server.pid() != Some(first) && !server.is_paused());
        server.terminate(Duration::from_secs(5)).await;
        assert_eq!(server.ending().await.unwrap().to_string(), "signal 15");
        drop((server, launcher));
        std::fs::remove_dir_all(logs).unwrap();
    }
}
