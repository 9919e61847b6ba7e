//! The machine: its cores, and who runs on which.

use std::{fs, io};

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use serde::Serialize;

/// What the figures were taken on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Machine {
    pub cpu: String,
    pub kernel: String,
    pub cores: usize,
    /// None: one core only, nothing is pinned.
    pub pins: Option<Pins>,
}

/// The server has one core, the tool another: no tool gains by having more, none waits for the server's core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Pins {
    pub server: usize,
    pub tool: usize,
}

impl Machine {
    /// # Errors
    /// The kernel does not say which cores this process may use.
    pub fn here() -> io::Result<Self> {
        let cores = allowed_cores()?;
        Ok(Self {
            cpu: cpu_model(&read("/proc/cpuinfo")),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            cores: cores.len(),
            pins: match cores[..] {
                [server, tool, ..] => Some(Pins { server, tool }),
                _ => None,
            },
        })
    }
}

fn allowed_cores() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(Pid::from_raw(0))?;
    let is_allowed = |core: &usize| set.is_set(*core).unwrap_or(false);
    Ok((0..CpuSet::count()).filter(is_allowed).collect())
}

/// Keeps the calling thread on one core.
pub fn pin_this_thread(core: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(core)?;
    Ok(sched_setaffinity(Pid::from_raw(0), &set)?)
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// The first processor's name; not every architecture tells one.
fn cpu_model(cpuinfo: &str) -> String {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split_once(':'));
    name.map_or("unknown CPU", |(_, name)| name.trim())
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_is_named_where_the_kernel_names_it() {
        let info = "processor\t: 0\nmodel name\t: Some CPU @ 2.0GHz\nprocessor\t: 1\nmodel name\t: Other\n";
        assert_eq!(cpu_model(info), "Some CPU @ 2.0GHz");
        assert_eq!(cpu_model("processor\t: 0\n"), "unknown CPU");
    }

    #[test]
    fn a_thread_is_pinned_to_an_allowed_core() {
        let core = allowed_cores().unwrap()[0];
        let seen = std::thread::spawn(move || {
            pin_this_thread(core).unwrap();
            allowed_cores().unwrap()
        });
        assert_eq!(seen.join().unwrap(), [core]);
    }
}
