//! The arrivals still to be sent. Arrivals are numbered in the order of their times, so those that
//! wait are a range of indexes: no queue, no memory, however far the service falls behind.

use super::arrival_times::{ArrivalTimes, Walk};
use super::schedule::Schedule;

#[derive(Debug)]
pub struct Arrivals {
    times: ArrivalTimes,
    /// The first arrival that was neither sent nor dropped, and its time.
    next: u64,
    next_ns: u64,
    next_walk: Walk,
    /// The first arrival whose time has not come, and its time.
    due: u64,
    due_ns: u64,
    due_walk: Walk,
}

impl Arrivals {
    pub fn new(schedule: &Schedule, seed: u64) -> Self {
        let times = ArrivalTimes::new(schedule, seed);
        let first_ns = times.intended_ns(0);
        Self {
            times,
            next: 0,
            next_ns: first_ns,
            next_walk: Walk::default(),
            due: 0,
            due_ns: first_ns,
            due_walk: Walk::default(),
        }
    }

    /// Arrivals of each of the schedule's phases.
    pub fn phase_counts(&self) -> Vec<u64> {
        self.times.phase_counts()
    }

    /// Gives the arrivals whose time has come since the last call.
    pub fn come_due(&mut self, now_ns: u64, mut offered: impl FnMut(u64, u64)) {
        while self.due < self.times.count() && self.due_ns <= now_ns {
            offered(self.due, self.due_ns);
            self.due += 1;
            self.due_ns = self.times.intended_ns_on(&mut self.due_walk, self.due);
        }
    }

    /// The arrival that waits longest, and its time.
    pub fn waiting(&self) -> Option<(u64, u64)> {
        (self.next < self.due).then_some((self.next, self.next_ns))
    }

    /// When the first arrival comes whose time has not; None: all have.
    pub fn next_due_ns(&self) -> Option<u64> {
        (self.due < self.times.count()).then_some(self.due_ns)
    }

    /// The one that waited longest was sent or dropped.
    pub fn pass(&mut self) {
        self.next += 1;
        self.next_ns = self.times.intended_ns_on(&mut self.next_walk, self.next);
    }

    /// No arrival is left, and the schedule is over.
    pub fn over(&self, now_ns: u64) -> bool {
        self.next == self.times.count() && now_ns >= self.times.duration_ns()
    }
}
