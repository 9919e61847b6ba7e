//! What `drill run` and `prove` share: a stack that is up, a watcher, and Ctrl-C or SIGTERM.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::exit::Exit;
use super::left_behind;
use super::stop_word::StopWord;
use super::terminal::Terminal;
use crate::drill::clean_room;
use crate::drill::fit::Fit;
use crate::drill::folder::RunFolder;
use crate::drill::narrate::Narrate;
use crate::drill::plan::Plan;
use crate::drill::run::Bench;
use crate::environment::{EnvironmentError, Setting, Stack, StackOptions};
use crate::faults::{self, Grounds};
use crate::journeys::leave_ctrl_c_alone;

pub struct Session {
    pub stack: Arc<Stack>,
    pub bench: Bench,
}

impl Session {
    /// Brings the stack up. Ctrl-C or SIGTERM while it starts takes it down again; once it is up, the first one
    /// ends the run in order (load stops, faults are healed, evidence is saved).
    ///
    /// # Errors
    /// The exit code, after the reason was printed.
    pub async fn start(results: &Path, setting: Setting, fit: Fit) -> Result<Self, Exit> {
        let narrate: Arc<dyn Narrate> = Arc::new(Terminal::new());
        let bin_dir = bin_dir().map_err(|error| Exit::internal(&error))?;
        let logs = results.join("stack-logs");
        let watcher = Arc::clone(&narrate);
        let options = StackOptions {
            name: "drill".to_owned(),
            keep_logs_in: logs,
            progress: Arc::new(move |line: &str| watcher.say(line)),
            setting,
        };
        leave_ctrl_c_alone();
        let mut word = StopWord::listen().map_err(|error| Exit::internal(&error))?;
        let started = tokio::select! {
            stack = Stack::start(&options) => stack.map_err(|error| Exit::unavailable(&error)),
            () = word.heard() => Err(Exit::unavailable(&"interrupted while the stack was starting; it was taken down")),
        };
        let stack = match started {
            Ok(stack) => stack,
            Err(exit) => return Err(left_behind::look().await.0.or(exit)),
        };
        let cancel = Arc::new(AtomicBool::new(false));
        tokio::spawn(obey(word, Arc::clone(&cancel), Arc::clone(&narrate)));
        let bench = Bench {
            results: results.to_owned(),
            bin_dir,
            fit,
            narrate,
            cancel,
        };
        Ok(Self {
            stack: Arc::new(stack),
            bench,
        })
    }

    pub fn cancelled(&self) -> bool {
        self.bench.cancel.load(Ordering::Relaxed)
    }

    /// Takes the stack down and looks whether anything is left, which fails `last_run`: its name.
    pub async fn stop(self, last_run: Option<&str>) -> Exit {
        let handed_back = match last_run {
            Some(_) => self.stack.hand_back().await,
            None => Ok(()),
        };
        self.stack.stop().await;
        // With it goes the proxy, whose listeners would be found otherwise.
        drop(self.stack);
        let (exit, found) = left_behind::look().await;
        let exit = match handed_back {
            Ok(()) => exit,
            Err(error) => {
                note!("flashdrill: left behind: the run's data: {error}");
                exit.or(Exit::Fail)
            }
        };
        let Some(run) = last_run else { return exit };
        let folder = RunFolder::open(&self.bench.results.join(run));
        match clean_room::after_stop(folder, found) {
            Ok(()) => exit,
            Err(error) => Exit::internal(&error),
        }
    }
}

/// Refuses drills that this setting cannot or must not have, before anything starts.
///
/// # Errors
/// The exit code, after everything that stands against them was named.
pub fn accept<'p>(
    plans: impl IntoIterator<Item = &'p Plan>,
    setting: &Setting,
) -> Result<(), Exit> {
    let mut refused = None;
    if let Some(theirs) = setting.endpoints()
        && !theirs.may_reset
    {
        let refusal = EnvironmentError::MayNotReset(theirs.file.clone());
        refused = Some(Exit::unavailable(&refusal));
    }
    for plan in plans {
        let grounds = Grounds {
            setting,
            target: &plan.target,
            service_nodes: plan.service.len(),
        };
        for unmet in faults::unmet(&plan.faults, grounds) {
            refused = Some(Exit::unavailable(&format!("{}: {unmet}", plan.drill)));
        }
    }
    refused.map_or(Ok(()), Err)
}

/// Asks the running drill to end, at every signal.
async fn obey(mut word: StopWord, cancel: Arc<AtomicBool>, narrate: Arc<dyn Narrate>) {
    loop {
        word.heard().await;
        cancel.store(true, Ordering::Relaxed);
        narrate.say("interrupted: stopping the load, healing faults, saving evidence");
    }
}

/// The service's binaries stand beside this one.
fn bin_dir() -> std::io::Result<std::path::PathBuf> {
    let exe = std::env::current_exe()?;
    Ok(exe.parent().map(Path::to_owned).unwrap_or_default())
}
