//! Where requests come from: a schedule that does not ask the server, or buyers who each wait for their answer.

use super::arrivals::Arrivals;
use super::schedule::Schedule;
use super::spec::Loop;

#[derive(Debug)]
pub enum Source {
    Open(Arrivals),
    Closed(Closed),
}

/// As many requests under way as there is room for, until time is up.
#[derive(Debug)]
pub struct Closed {
    next: u64,
    due: u64,
    now_ns: u64,
    end_ns: u64,
}

impl Source {
    pub fn new(kind: Loop, schedule: &Schedule, seed: u64) -> Self {
        match kind {
            Loop::Open => Self::Open(Arrivals::new(schedule, seed)),
            Loop::Closed => Self::Closed(Closed {
                next: 0,
                due: 0,
                now_ns: 0,
                end_ns: schedule.timetable().duration_ns(),
            }),
        }
    }

    /// Arrivals that each phase of the schedule holds; None: it depends on the answers.
    pub fn phase_counts(&self) -> Option<Vec<u64>> {
        match self {
            Self::Open(arrivals) => Some(arrivals.phase_counts()),
            Self::Closed(_) => None,
        }
    }

    /// Gives the arrivals that are new at `now_ns`; `room` says for how many there is.
    pub fn come_due(
        &mut self,
        now_ns: u64,
        room: impl FnOnce() -> u64,
        mut offered: impl FnMut(u64, u64),
    ) {
        match self {
            Self::Open(arrivals) => arrivals.come_due(now_ns, offered),
            Self::Closed(closed) => {
                closed.now_ns = now_ns;
                if now_ns < closed.end_ns {
                    let from = closed.due;
                    closed.due = closed.next + room();
                    (from..closed.due).for_each(|index| offered(index, now_ns));
                }
            }
        }
    }

    /// The arrival that waits longest, and its intended time.
    pub fn waiting(&self) -> Option<(u64, u64)> {
        match self {
            Self::Open(arrivals) => arrivals.waiting(),
            Self::Closed(closed) => {
                (closed.next < closed.due).then_some((closed.next, closed.now_ns))
            }
        }
    }

    /// The one that waited longest was sent or dropped.
    pub fn pass(&mut self) {
        match self {
            Self::Open(arrivals) => arrivals.pass(),
            Self::Closed(closed) => closed.next += 1,
        }
    }

    /// When the next arrival comes; None: all have, or it depends on the answers.
    pub fn next_due_ns(&self) -> Option<u64> {
        match self {
            Self::Open(arrivals) => arrivals.next_due_ns(),
            Self::Closed(_) => None,
        }
    }

    /// Whether the generator may sleep until something happens.
    pub fn may_be_quiet(&self) -> bool {
        matches!(self, Self::Open(_))
    }

    /// No arrival is left.
    pub fn over(&self, now_ns: u64) -> bool {
        match self {
            Self::Open(arrivals) => arrivals.over(now_ns),
            Self::Closed(closed) => now_ns >= closed.end_ns && closed.next >= closed.due,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::schedule::{Phase, Shape};

    #[test]
    fn a_closed_loop_fills_the_room_until_time_is_up() {
        let schedule = Schedule::of(vec![Phase {
            name: "closed".into(),
            shape: Shape::Constant {
                rate_per_s: 0.0,
                duration_ms: 1,
            },
        }]);
        let mut source = Source::new(Loop::Closed, &schedule, 7);
        let mut seen = Vec::new();
        source.come_due(0, || 2, |index, ns| seen.push((index, ns)));
        assert_eq!(source.waiting(), Some((0, 0)));
        source.pass();
        source.pass();
        assert_eq!(source.waiting(), None);
        source.come_due(500, || 1, |index, ns| seen.push((index, ns)));
        assert_eq!(seen, [(0, 0), (1, 0), (2, 500)]);
        assert!(!source.over(1_000_000), "one was offered and not sent");
        source.pass();
        source.come_due(1_000_000, || 9, |index, ns| seen.push((index, ns)));
        assert_eq!(seen.len(), 3);
        assert!(source.over(1_000_000));
    }
}
