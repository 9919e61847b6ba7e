//! One server process: started, killed, started again, with its log and exit status.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::error::{EnvironmentError, LogTail};
use super::launcher::Launcher;
use super::procfs;
use super::run_folder::file_error;
use super::sweep::kill_group;

/// Lines of a log that an error shows.
const TAIL_LINES: usize = 12;
/// Enough for those lines; Java's stack traces are long.
const TAIL_BYTES: u64 = 16 << 10;
/// How often an ending process is looked at.
const WAIT_STEP: Duration = Duration::from_millis(5);

/// How a component is run.
#[derive(Debug, Clone)]
pub(crate) struct ProcessSpec {
    pub component: String,
    pub program: PathBuf,
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub dir: PathBuf,
    /// Standard output and error, appended.
    pub log: PathBuf,
    /// The port whose conflict is worth naming.
    pub port: u16,
}

/// A component's process. Killed when dropped.
#[derive(Debug)]
pub struct Process {
    spec: ProcessSpec,
    launcher: Arc<Launcher>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    child: Option<Child>,
    exit: Option<ExitStatus>,
    /// CPU used by earlier lives of this component.
    cpu_ms_before: u64,
    /// Length of the log when this life began: an earlier life's last words are not this one's.
    log_from: u64,
}

impl Process {
    pub(crate) fn start(
        launcher: &Arc<Launcher>,
        spec: ProcessSpec,
    ) -> Result<Arc<Self>, EnvironmentError> {
        let process = Self {
            spec,
            launcher: Arc::clone(launcher),
            state: Mutex::default(),
        };
        process.start_again()?;
        Ok(Arc::new(process))
    }

    /// Starts it as it was started first; a no-op while it runs.
    ///
    /// # Errors
    /// The program cannot be run, or its log cannot be opened.
    pub fn start_again(&self) -> Result<(), EnvironmentError> {
        let mut state = self.state();
        if state.is_running() {
            return Ok(());
        }
        let log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.spec.log)
            .map_err(|source| file_error("open", &self.spec.log, source))?;
        state.log_from = log.metadata().map_or(0, |meta| meta.len());
        let errors = log
            .try_clone()
            .map_err(|source| file_error("open", &self.spec.log, source))?;
        let mut command = self.launcher.command(&self.spec.program);
        command
            .args(&self.spec.args)
            .envs(&self.spec.env)
            .current_dir(&self.spec.dir);
        // Errors are told from each other by their English text.
        command
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors);
        let child = self
            .launcher
            .spawn(&self.spec.component, command, &self.spec.program)?;
        state.child = Some(child);
        state.exit = None;
        Ok(())
    }

    pub fn component(&self) -> &str {
        &self.spec.component
    }

    /// None while it is dead.
    pub fn pid(&self) -> Option<u32> {
        let mut state = self.state();
        if state.is_running() {
            state.child.as_ref().map(Child::id)
        } else {
            None
        }
    }

    pub fn is_alive(&self) -> bool {
        self.state().is_running()
    }

    /// How its last life ended; None while it lives.
    pub fn exit_status(&self) -> Option<ExitStatus> {
        let mut state = self.state();
        state.is_running();
        state.exit
    }

    /// SIGKILL to its process group; returns how it ended.
    ///
    /// # Errors
    /// It was dead before, or does not die within five seconds.
    pub async fn kill(&self) -> Result<ExitStatus, EnvironmentError> {
        let Some(pid) = self.pid() else {
            return Err(self.step("kill -9", format!("dead already: {:?}", self.exit_status())));
        };
        if let Some(used) = procfs::cpu_ms(pid) {
            self.state().cpu_ms_before += used;
        }
        kill_group(pid);
        self.wait(Duration::from_secs(5))
            .await
            .ok_or_else(|| self.step("kill -9", "it lives on"))
    }

    /// SIGKILL without waiting for the end.
    pub(crate) fn kill_soon(&self) {
        if let Some(pid) = self.pid() {
            kill_group(pid);
        }
    }

    /// SIGTERM, then SIGKILL when it has not ended within `grace`.
    pub async fn terminate(&self, grace: Duration) {
        let Some(pid) = self.pid() else { return };
        let _ = killpg(Pid::from_raw(pid.cast_signed()), Signal::SIGTERM);
        if self.wait(grace).await.is_none() {
            // The error says that it ended in between.
            let _ = self.kill().await;
        }
    }

    async fn wait(&self, timeout: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + timeout;
        while self.is_alive() {
            if Instant::now() >= deadline {
                return None;
            }
            tokio::time::sleep(WAIT_STEP).await;
        }
        self.exit_status()
    }

    /// CPU time of all its lives, milliseconds.
    pub fn cpu_ms(&self) -> u64 {
        let now = self.pid().and_then(procfs::cpu_ms).unwrap_or(0);
        self.state().cpu_ms_before + now
    }

    pub(crate) fn port(&self) -> u16 {
        self.spec.port
    }

    /// What the log of this life ends with.
    pub fn log_tail(&self) -> LogTail {
        let from = self.state().log_from;
        LogTail {
            path: self.spec.log.clone(),
            lines: tail(&self.spec.log, from),
        }
    }

    fn step(&self, step: &str, reason: impl std::fmt::Display) -> EnvironmentError {
        EnvironmentError::step(&self.spec.component, step, reason)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Reaps the child when it has ended.
    fn is_running(&mut self) -> bool {
        let Some(child) = self.child.as_mut() else {
            return false;
        };
        match child.try_wait() {
            Ok(None) => true,
            Ok(Some(status)) => {
                self.exit = Some(status);
                self.child = None;
                false
            }
            Err(_) => false,
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let mut state = self.state();
        if let Some(mut child) = state.child.take() {
            kill_group(child.id());
            let _ = child.wait();
        }
    }
}

/// The last lines of what was written to the file after its first `from` bytes.
pub(super) fn tail(path: &Path, from: u64) -> Vec<String> {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = fs::metadata(path)?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES).max(from)))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..]
        .iter()
        .map(|&line| line.to_owned())
        .collect()
}
