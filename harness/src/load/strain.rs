//! What held the schedule up: the generator's own wake-ups and work, connections without room, the disk.

use serde::{Deserialize, Serialize};

use super::host::HostUse;

const NS_PER_MS: u64 = 1_000_000;
/// Woken this much after the wanted time: a stall, which buyers' requests were late for.
const STALL_NS: u64 = NS_PER_MS;

/// Times in which the generator could not do what the schedule asked. Nanoseconds over the whole run; causes
/// may overlap.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strain {
    /// The generator's thread went before all others (it asks; the system may refuse).
    #[serde(default)]
    pub goes_first: bool,
    /// Wake-ups that came 1 ms or more late.
    pub stalls: u64,
    /// Time slept beyond the wanted wake-up in all stalls, and in the longest.
    pub stalled_ns: u64,
    pub stalled_ns_max: u64,
    /// Time that the work of single ticks took beyond the tick.
    pub overrun_ns: u64,
    /// Time in which requests were due and no connection stood.
    pub no_connection_ns: u64,
    /// Time in which requests were due and no connection had room for them.
    pub no_room_ns: u64,
    /// Time in which the history's disk was waited for.
    pub history_wait_ns: u64,
}

/// Why requests that are due were left behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    Nothing,
    WithoutConnection,
    WithoutRoom,
}

impl Strain {
    /// The generator wanted to wake at `wanted_ns` and did at `woke_ns`.
    pub fn woke(&mut self, wanted_ns: i64, woke_ns: i64) {
        let late_ns = u64::try_from(woke_ns - wanted_ns).unwrap_or(0);
        if late_ns >= STALL_NS {
            self.stalls += 1;
            self.stalled_ns += late_ns;
            self.stalled_ns_max = self.stalled_ns_max.max(late_ns);
        }
    }

    /// The work of a tick of `tick_ns` took this long.
    pub fn worked(&mut self, took_ns: u64, tick_ns: u64, left: Left) {
        self.overrun_ns += took_ns.saturating_sub(tick_ns);
        let ns = took_ns.max(tick_ns);
        match left {
            Left::Nothing => {}
            Left::WithoutConnection => self.no_connection_ns += ns,
            Left::WithoutRoom => self.no_room_ns += ns,
        }
    }

    /// Adds what another generator went through at the same time.
    pub fn add(&mut self, other: &Self) {
        self.goes_first &= other.goes_first;
        self.stalls += other.stalls;
        self.stalled_ns += other.stalled_ns;
        self.stalled_ns_max = self.stalled_ns_max.max(other.stalled_ns_max);
        self.overrun_ns += other.overrun_ns;
        self.no_connection_ns += other.no_connection_ns;
        self.no_room_ns += other.no_room_ns;
        self.history_wait_ns += other.history_wait_ns;
    }

    /// The greatest cause of lateness in one sentence; None: there was none to speak of.
    pub fn cause(&self, host: &HostUse) -> Option<String> {
        let ms = |ns: u64| ns / NS_PER_MS;
        let causes = [
            (
                self.no_connection_ns,
                format!(
                    "no connection stood for {} ms: the service is down, or refuses connections",
                    ms(self.no_connection_ns)
                ),
            ),
            (
                self.no_room_ns,
                format!(
                    "no connection had room for {} ms: the service answers too slowly for so few connections x depth",
                    ms(self.no_room_ns)
                ),
            ),
            (
                self.stalled_ns,
                format!(
                    "the generator{} was woken late {} times, {} ms in all, {} ms at worst: {host}",
                    if self.goes_first {
                        ""
                    } else {
                        ", without real-time priority,"
                    },
                    self.stalls,
                    ms(self.stalled_ns),
                    ms(self.stalled_ns_max)
                ),
            ),
            (
                self.history_wait_ns,
                format!(
                    "the history's disk was waited for {} ms",
                    ms(self.history_wait_ns)
                ),
            ),
            (
                self.overrun_ns,
                format!(
                    "the generator's own work took {} ms more than its ticks have: {host}",
                    ms(self.overrun_ns)
                ),
            ),
        ];
        causes
            .into_iter()
            .filter(|(ns, _)| *ns >= NS_PER_MS)
            .max_by_key(|(ns, _)| *ns)
            .map(|(_, text)| text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::clock::TICK_NS;

    const MS: i64 = NS_PER_MS as i64;

    #[test]
    fn the_greatest_cause_is_named() {
        let host = HostUse::default();
        let none = Strain::default();
        assert_eq!(none.cause(&host), None);
        let mut strain = Strain::default();
        strain.woke(0, MS / 2);
        assert_eq!(strain, none, "half a millisecond is no stall");
        strain.woke(0, 30 * MS);
        strain.worked(NS_PER_MS, TICK_NS, Left::Nothing);
        let cause = strain.cause(&host).unwrap();
        assert!(
            cause.contains("woken late 1 times, 30 ms in all"),
            "{cause}"
        );
        for _ in 0..400 {
            strain.worked(TICK_NS, TICK_NS, Left::WithoutRoom);
        }
        let cause = strain.cause(&host).unwrap();
        assert!(
            cause.contains("no connection had room for 40 ms"),
            "{cause}"
        );
        for _ in 0..450 {
            strain.worked(TICK_NS, TICK_NS, Left::WithoutConnection);
        }
        let cause = strain.cause(&host).unwrap();
        assert!(cause.contains("no connection stood for 45 ms"), "{cause}");
        strain.history_wait_ns = 50 * NS_PER_MS;
        let cause = strain.cause(&host).unwrap();
        assert!(cause.contains("disk"), "{cause}");
    }

    #[test]
    fn two_generators_add_up() {
        let mut one = Strain::default();
        one.woke(0, 2 * MS);
        let mut two = Strain::default();
        two.woke(0, 5 * MS);
        one.add(&two);
        assert_eq!((one.stalls, one.stalled_ns_max), (2, 5 * NS_PER_MS));
        assert_eq!(one.stalled_ns, 7 * NS_PER_MS);
    }
}
