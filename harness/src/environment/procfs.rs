//! What the kernel says about processes: identity, life, group, CPU time.

use std::fs;
use std::io;

use serde::{Deserialize, Serialize};

/// USER_HZ: `/proc/<pid>/stat` counts in hundredths of a second on every Linux architecture in use.
const TICK_MS: u64 = 10;

/// A process id that cannot be mistaken for a later process with the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProcessId {
    pub pid: u32,
    /// Clock ticks between boot and its start.
    pub started_ticks: u64,
}

impl ProcessId {
    pub fn of(pid: u32) -> io::Result<Self> {
        Ok(Self {
            pid,
            started_ticks: Stat::read(&format!("/proc/{pid}/stat"))?.started_ticks,
        })
    }

    /// Runs still; a zombie does not.
    pub fn is_alive(self) -> bool {
        self.state() != ProcessState::Dead
    }

    pub fn state(self) -> ProcessState {
        match Stat::read(&format!("/proc/{}/stat", self.pid)) {
            Ok(stat) if stat.started_ticks == self.started_ticks => stat.state,
            _ => ProcessState::Dead,
        }
    }
}

/// What a process does, as far as a fault can change it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessState {
    Running,
    /// Stopped by a signal.
    Paused,
    Dead,
}

/// Ids of all processes of this machine that we may see, the dead but unreaped ones included.
pub(crate) fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Number of the process group it is in; None when it is dead.
pub(crate) fn group_of(pid: u32) -> Option<u32> {
    let stat = Stat::read(&format!("/proc/{pid}/stat")).ok()?;
    (stat.state != ProcessState::Dead).then_some(stat.group)
}

/// CPU time of a process so far, milliseconds; None when it is gone.
pub(crate) fn cpu_ms(pid: u32) -> Option<u64> {
    Stat::read(&format!("/proc/{pid}/stat"))
        .ok()
        .map(|stat| stat.cpu_ms)
}

/// Stopped by a signal: it stands still.
pub(crate) fn is_stopped(pid: u32) -> bool {
    Stat::read(&format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.state == ProcessState::Paused)
}

/// Whether one of the process's control groups is called `name`.
pub(crate) fn is_in_control_group(pid: u32, name: &str) -> bool {
    fs::read_to_string(format!("/proc/{pid}/cgroup")).is_ok_and(|groups| groups.contains(name))
}

/// CPU time of one thread of this process.
pub(crate) fn thread_cpu_ms(thread_id: i32) -> Option<u64> {
    Stat::read(&format!("/proc/self/task/{thread_id}/stat"))
        .ok()
        .map(|stat| stat.cpu_ms)
}

/// Differs after every boot: recorded process ids mean nothing across one.
pub(crate) fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .unwrap_or_default()
        .trim()
        .to_owned()
}

#[derive(Debug, PartialEq, Eq)]
struct Stat {
    state: ProcessState,
    group: u32,
    cpu_ms: u64,
    started_ticks: u64,
}

impl Stat {
    fn read(path: &str) -> io::Result<Self> {
        Self::parse(&fs::read_to_string(path)?)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, format!("{path} is strange")))
    }

    /// proc(5): the second field is a name in brackets that may itself hold blanks and brackets.
    fn parse(text: &str) -> Option<Self> {
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
        Some(Self {
            state: match *fields.first()? {
                "Z" | "X" => ProcessState::Dead,
                "T" | "t" => ProcessState::Paused,
                _ => ProcessState::Running,
            },
            group: number(5)?.try_into().ok()?,
            cpu_ms: (number(14)? + number(15)?) * TICK_MS,
            started_ticks: number(22)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_name_with_brackets() {
        let text = "12 (a (b) c) S 1 12 12 0 -1 4194560 1 2 3 4 70 5 0 0 20 0 1 0 998877 1 2";
        let stat = Stat {
            state: ProcessState::Running,
            group: 12,
            cpu_ms: 750,
            started_ticks: 998_877,
        };
        assert_eq!(Stat::parse(text), Some(stat));
        assert_eq!(Stat::parse("12 (short) Z 1"), None);
    }

    #[test]
    fn knows_this_process_and_not_an_earlier_one_with_its_number() {
        let me = ProcessId::of(std::process::id()).unwrap();
        assert!(me.is_alive());
        assert!(
            !ProcessId {
                started_ticks: me.started_ticks - 1,
                ..me
            }
            .is_alive()
        );
    }
}
