//! Whose a process or a scratch folder is. Everything that a flashdrill process starts carries its owner's mark in
//! the environment, and hands it on to whatever it starts itself: a process cannot leave by changing its group.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::procfs::{self, ProcessId};
use super::run_folder::runs_folder;

/// Holds `<pid>.<start>` of the flashdrill process.
pub(super) const MARK: &str = "FLASHDRILL_OWNER";

/// A flashdrill process, alive or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Owner(ProcessId);

impl Owner {
    /// This process.
    pub fn this() -> Self {
        let pid = std::process::id();
        let id = ProcessId::of(pid).unwrap_or(ProcessId {
            pid,
            started_ticks: 0,
        });
        Self(id)
    }

    pub fn is_alive(self) -> bool {
        self.0.is_alive()
    }

    /// The mark's value.
    pub fn mark(self) -> String {
        format!("{}.{}", self.0.pid, self.0.started_ticks)
    }

    pub fn parse(mark: &str) -> Option<Self> {
        let (pid, started_ticks) = mark.split_once('.')?;
        Some(Self(ProcessId {
            pid: pid.parse().ok()?,
            started_ticks: started_ticks.parse().ok()?,
        }))
    }

    /// By the mark a process carries; None: it has none, or is another user's.
    pub fn of_process(pid: u32) -> Option<Self> {
        let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
        let mut variables = environment.split(|byte| *byte == 0);
        variables.find_map(|variable| {
            let text = std::str::from_utf8(variable).ok()?;
            Self::parse(text.strip_prefix(MARK)?.strip_prefix('=')?)
        })
    }

    /// A scratch folder's name ends with the owner's process id and a number.
    pub fn owns_folder(self, folder: &Path) -> bool {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        name.rsplit('-').nth(1) == Some(&self.0.pid.to_string())
    }

    /// The living processes it has started, directly or not. One that has overwritten its environment (Redis shows
    /// its title there) is known by the folder it works in.
    pub fn processes(self) -> impl Iterator<Item = u32> {
        let runs = runs_folder();
        procfs::pids().filter(move |pid| {
            *pid != std::process::id()
                && procfs::group_of(*pid).is_some()
                && (Self::of_process(*pid) == Some(self) || self.works_in(*pid, &runs))
        })
    }

    fn works_in(self, pid: u32, runs: &Path) -> bool {
        let Ok(place) = fs::read_link(format!("/proc/{pid}/cwd")) else {
            return false;
        };
        let below = place.strip_prefix(runs).ok();
        let folder = below.and_then(|below| below.components().next());
        folder.is_some_and(|folder| self.owns_folder(Path::new(&folder)))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use super::*;

    #[test]
    fn a_process_that_left_its_group_is_still_ours() {
        let me = Owner::this();
        assert!(me.is_alive());
        let mut child = Command::new("sh")
            // It tells its number itself: while a process becomes another program, its environment is not there.
            .args(["-c", "exec 3<&0; sh -c 'echo $$; read line' <&3 &"])
            .env(MARK, me.mark())
            .process_group(0)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let output = child.stdout.take().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line).unwrap();
        let left: u32 = line.trim().parse().unwrap();
        // Open until the end of the test, so that it waits.
        let _input = child.stdin.take();
        child.wait().unwrap();
        assert_eq!(Owner::of_process(left), Some(me));
        assert!(me.processes().any(|pid| pid == left));
        let pid = nix::unistd::Pid::from_raw(left.cast_signed());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap();
    }

    #[test]
    fn knows_its_folders() {
        let me = Owner::this();
        let pid = std::process::id();
        for (name, owned) in [
            (format!("drill-{pid}-0"), true),
            (format!("a-b-{pid}-12"), true),
            (format!("drill-{pid}1-0"), false),
            ("drill".to_owned(), false),
        ] {
            assert_eq!(me.owns_folder(Path::new(&name)), owned, "{name}");
        }
    }
}
