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
    /// The kernel does not tell.
    pub fn end(&self) -> io::Result<Spent> {
        let mut spent = Spent::default();
        for before in &self.before {
            let seconds = (used_us(before.pid)? - before.used_us) / 1e6;
            *spent.0.entry(before.name.clone()).or_default() += seconds;
        }
        Ok(spent)
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
    use std::process::Command;

    use super::*;

    #[test]
    fn children_are_counted_by_name() {
        let mut child = Command::new("sh")
            .args(["-c", "i=0; while :; do i=$((i+1)); done"])
            .spawn()
            .unwrap();
        let mut meter = Meter::default().and(std::process::id(), None);
        meter.begin().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(200));
        let spent = meter.end().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(
            spent.0["sh"] > 0.0 && spent.total_s() >= spent.0["sh"],
            "{spent:?}"
        );
    }
}
