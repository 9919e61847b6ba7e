//! The machine beside the generator: what else used its processors while the load ran.

use std::fmt;
use std::fs;

use serde::{Deserialize, Serialize};

/// One reading of the kernel's counters, in its ticks of a hundredth of a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostClock {
    cpus: u64,
    busy: u64,
    idle: u64,
    steal: u64,
    own: u64,
}

/// Shares of all the machine's processors over a load. All 0 where the kernel does not tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct HostUse {
    pub cpus: u64,
    /// This process: generator, and in a drill the proxies.
    pub own_share: f64,
    /// Every other process: service, servers, and whatever runs here besides.
    pub others_share: f64,
    /// Time the hypervisor gave to somebody else.
    pub steal_share: f64,
}

impl HostClock {
    /// None where the kernel does not tell.
    pub fn read() -> Option<Self> {
        let stat = fs::read_to_string("/proc/stat").ok()?;
        let own = fs::read_to_string("/proc/self/stat").ok()?;
        Self::parse(&stat, &own)
    }

    /// `stat` as of proc(5): `cpu user nice system idle iowait irq softirq steal ...`, then a line a processor.
    fn parse(stat: &str, own: &str) -> Option<Self> {
        let mut lines = stat.lines();
        let fields: Vec<u64> = lines
            .next()?
            .strip_prefix("cpu ")?
            .split_ascii_whitespace()
            .map_while(|field| field.parse().ok())
            .collect();
        let [user, nice, system, idle, iowait, irq, softirq, steal, ..] = fields[..] else {
            return None;
        };
        // Behind the name, which may hold anything: state, then the fields from the fourth on.
        let own: Vec<&str> = own.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        let own_ticks = |at: usize| own.get(at)?.parse::<u64>().ok();
        Some(Self {
            cpus: lines.take_while(|line| line.starts_with("cpu")).count() as u64,
            busy: user + nice + system + irq + softirq,
            idle: idle + iowait,
            steal,
            own: own_ticks(11)? + own_ticks(12)?,
        })
    }

    /// What was used since `earlier`.
    pub fn since(&self, earlier: &Self) -> HostUse {
        let busy = self.busy.saturating_sub(earlier.busy);
        let steal = self.steal.saturating_sub(earlier.steal);
        let all = busy + steal + self.idle.saturating_sub(earlier.idle);
        let own = self.own.saturating_sub(earlier.own).min(busy);
        let share = |ticks: u64| ticks as f64 / all.max(1) as f64;
        HostUse {
            cpus: self.cpus,
            own_share: share(own),
            others_share: share(busy - own),
            steal_share: share(steal),
        }
    }
}

impl fmt::Display for HostUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: f64| (share * 100.0).round();
        write!(
            f,
            "of {} processors this process used {} %, others {} %, the hypervisor took {} %",
            self.cpus,
            percent(self.own_share),
            percent(self.others_share),
            percent(self.steal_share)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(line: &str) -> String {
        format!("cpu  {line} 0 0\ncpu0 1 2 3\ncpu1 1 2 3\nintr 5\n")
    }

    #[test]
    fn shares_are_of_all_processors() {
        let own = |user: u64| format!("7 (a) b) S 1 1 1 0 -1 0 0 0 0 0 {user} 10 0 0 20");
        let before = HostClock::parse(&stat("100 0 50 1000 0 0 0 10"), &own(40)).unwrap();
        let after = HostClock::parse(&stat("140 0 60 1040 0 0 0 20"), &own(60)).unwrap();
        let used = after.since(&before);
        assert_eq!(
            used,
            HostUse {
                cpus: 2,
                own_share: 0.2,
                others_share: 0.3,
                steal_share: 0.1
            }
        );
        assert!(used.to_string().contains("others 30 %"), "{used}");
    }

    #[test]
    fn another_kernel_tells_nothing() {
        assert_eq!(HostClock::parse("cpu 1 2\n", "1 (a) S"), None);
        assert_eq!(HostClock::parse("", ""), None);
        assert!(HostClock::read().is_some(), "this one does");
    }
}
