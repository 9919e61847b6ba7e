//! One life of a server as a child process in a group of its own. Killed when dropped.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::super::error::EnvironmentError;
use super::super::launcher::Launcher;
use super::super::procfs;
use super::super::run_folder::file_error;
use super::super::sweep::kill_group;
use super::{Ending, ServerSpec};

/// A stopped process is seen as such as soon as its threads are off the processors.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(2);

#[derive(Debug)]
pub(super) struct Process {
    pid: u32,
    child: Mutex<State>,
}

#[derive(Debug)]
enum State {
    Running(Child),
    Ended(Ending),
}

impl Process {
    /// Its output goes to `log`.
    pub fn start(
        launcher: &Launcher,
        spec: &ServerSpec,
        program: &Path,
        log: File,
    ) -> Result<Self, EnvironmentError> {
        let errors = log
            .try_clone()
            .map_err(|source| file_error("open", &spec.log, source))?;
        let mut command = launcher.command(program);
        command
            .args(&spec.args)
            .envs(&spec.env)
            .current_dir(&spec.dir)
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors);
        let child = launcher.spawn(&spec.component, command, program)?;
        Ok(Self {
            pid: child.id(),
            child: Mutex::new(State::Running(child)),
        })
    }

    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Reaps the child when it has ended; None while it runs.
    pub fn ending(&self) -> Option<Ending> {
        let mut state = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        let child = match &mut *state {
            State::Ended(ending) => return Some(*ending),
            State::Running(child) => child,
        };
        let ending = Ending::from(child.try_wait().ok()??);
        *state = State::Ended(ending);
        Some(ending)
    }

    pub fn kill(&self) -> Result<(), String> {
        self.send(Signal::SIGKILL)
    }

    pub fn ask_to_end(&self) -> Result<(), String> {
        self.send(Signal::SIGTERM)
    }

    /// Stops the whole group, and waits until the kernel says that it stands still.
    pub async fn pause(&self) -> Result<(), String> {
        self.send(Signal::SIGSTOP)?;
        let begun = Instant::now();
        while !procfs::is_stopped(self.pid) {
            if begun.elapsed() > STOP_TIMEOUT {
                return Err(format!("process {} runs on after SIGSTOP", self.pid));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(())
    }

    pub fn resume(&self) -> Result<(), String> {
        self.send(Signal::SIGCONT)
    }

    fn send(&self, signal: Signal) -> Result<(), String> {
        if let Some(ending) = self.ending() {
            return Err(format!("dead already: {ending}"));
        }
        killpg(Pid::from_raw(self.pid.cast_signed()), signal).map_err(|e| e.to_string())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let state = self.child.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let State::Running(child) = state {
            kill_group(child.id());
            let _ = child.wait();
        }
    }
}
