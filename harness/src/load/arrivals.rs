//! The arrivals still to be sent. Arrivals are numbered in the order of their times, so those that
//! wait are a range of indexes: no queue, no memory, however far the service falls behind.

use super::timetable::Timetable;

#[derive(Debug)]
pub struct Arrivals {
    timetable: Timetable,
    /// The first arrival that was neither sent nor dropped, and its time.
    next: u64,
    next_ns: u64,
    /// The first arrival whose time has not come.
    due: u64,
}

impl Arrivals {
    pub fn new(timetable: Timetable) -> Self {
        Self {
            next_ns: timetable.intended_ns(0),
            timetable,
            next: 0,
            due: 0,
        }
    }

    /// Gives the arrivals whose time has come since the last call.
    pub fn come_due(&mut self, now_ns: u64, mut offered: impl FnMut(u64, u64)) {
        while self.due < self.timetable.count() {
            let intended_ns = self.timetable.intended_ns(self.due);
            if intended_ns > now_ns {
                break;
            }
            offered(self.due, intended_ns);
            self.due += 1;
        }
    }

    /// The arrival that waits longest, and its time.
    pub fn waiting(&self) -> Option<(u64, u64)> {
        (self.next < self.due).then_some((self.next, self.next_ns))
    }

    /// When the first arrival comes whose time has not; None: all have.
    pub fn next_due_ns(&self) -> Option<u64> {
        (self.due < self.timetable.count()).then(|| self.timetable.intended_ns(self.due))
    }

    /// The one that waited longest was sent or dropped.
    pub fn pass(&mut self) {
        self.next += 1;
        self.next_ns = self.timetable.intended_ns(self.next);
    }

    /// No arrival is left, and the schedule is over.
    pub fn over(&self, now_ns: u64) -> bool {
        self.next == self.timetable.count() && now_ns >= self.timetable.duration_ns()
    }
}
