//! CPU of a drill's processes by what they are.

use std::collections::BTreeMap;
use std::{fs, io};

use serde::Serialize;

use crate::cpu::used_us;

/// Seconds of CPU by the program's name.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Spent(pub BTreeMap<String, f64>);

impl Spent {
    #[must_use]
    pub fn total_s(&self) -> f64 {
        self.0.values().sum()
    }
}

/// Measures the descendants of some processes. None of them may end in between.
#[derive(Default)]
pub struct Meter {
    roots: Vec<Root>,
    before: Vec<Measured>,
}

struct Root {
    pid: u32,
    name: Option<&'static str>,
}

struct Measured {
    pid: u32,
    name: String,
    used_us: f64,
}

impl Meter {
    /// Measures these descendants too: under one name, or each under its program's.
    #[must_use]
    pub fn and(mut self, pid: u32, name: Option<&'static str>) -> Self {
        self.roots.push(Root { pid, name });
        self
    }

    /// # Errors
    /// The kernel does not tell.
    pub fn begin(&mut self) -> io::Result<()> {
        for root in &self.roots {
            for pid in descendants(root.pid)? {
                let name = match root.name {
                    Some(name) => name.to_owned(),
                    None => fs::read_to_string(format!("/proc/{pid}/comm"))?,
                };
                self.before.push(Measured {
                    pid,
                    name: name.trim().to_owned(),
                    used_us: used_us(pid).unwrap_or(0.0),
                });
            }
        }
        Ok(())
    }

    /// # Errors
    /// The kernel does not tell, or one of them has ended: the error names it.
    pub fn end(&self) -> io::Result<Spent> {
        let mut spent = Spent::default();
        for before in &self.before {
            let used_us = used_us(before.pid).map_err(|error| before.unknown(&error))?;
            let seconds = (used_us - before.used_us) / 1e6;
            *spent.0.entry(before.name.clone()).or_default() += seconds;
        }
        Ok(spent)
    }
}

impl Measured {
    fn unknown(&self, error: &io::Error) -> io::Error {
        let Self { pid, name, .. } = self;
        io::Error::other(format!(
            "CPU of {name} (pid {pid}), which was measured: {error}"
        ))
    }
}

/// The process itself, its children, and theirs.
fn descendants(root: u32) -> io::Result<Vec<u32>> {
    let mut found = vec![root];
    let mut at = 0;
    while let Some(pid) = found.get(at).copied() {
        for task in fs::read_dir(format!("/proc/{pid}/task"))? {
            let children = fs::read_to_string(task?.path().join("children"))?;
            let pids = children
                .split_whitespace()
                .filter_map(|word| word.parse::<u32>().ok());
            found.extend(pids);
        }
        at += 1;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};
    use std::time::Duration;

    use super::*;

    /// A shell and its child, which spins.
    fn spinning() -> Child {
        let spin = "i=0; while :; do i=$((i+1)); done";
        let mut shell = Command::new("sh");
        // The one that spins is the child of a child of this process, which has children of other tests too.
        shell.args(["-c", &format!("sh -c '{spin}' & wait")]);
        let child = shell.spawn().unwrap();
        while descendants(child.id()).unwrap().len() < 2 {
            std::thread::sleep(Duration::from_millis(10));
        }
        child
    }

    fn end(mut child: Child) {
        for pid in descendants(child.id()).unwrap().iter().skip(1) {
            let pid = pid.to_string();
            Command::new("kill").args(["-9", &pid]).status().unwrap();
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn descendants_are_counted_by_name() {
        let child = spinning();
        let mut meter = Meter::default().and(child.id(), None);
        meter.begin().unwrap();
        std::thread::sleep(Duration::from_millis(200));
        let spent = meter.end().unwrap();
        end(child);
        assert!(
            spent.0["sh"] > 0.0 && spent.total_s() >= spent.0["sh"],
            "{spent:?}"
        );
    }

    #[test]
    fn one_that_ended_in_between_is_named() {
        let child = spinning();
        let pid = child.id();
        let mut meter = Meter::default().and(pid, Some("shell"));
        meter.begin().unwrap();
        end(child);
        let error = meter.end().unwrap_err().to_string();
        assert!(error.contains(&format!("shell (pid {pid})")), "{error}");
    }
}
