//! Counters of a running load, for a terminal to read.

use std::sync::atomic::{AtomicU64, Ordering};

/// Written by the load generator once a tick, read by anybody. Counts buys, not follow-ups.
#[derive(Debug, Default)]
pub struct Progress {
    offered: AtomicU64,
    sent: AtomicU64,
    dropped: AtomicU64,
    accepted: AtomicU64,
    refused: AtomicU64,
    unknown: AtomicU64,
}

/// One reading of [`Progress`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Arrivals whose time has come.
    pub offered: u64,
    pub sent: u64,
    pub dropped: u64,
    pub accepted: u64,
    pub refused: u64,
    pub unknown: u64,
}

impl Progress {
    pub fn counts(&self) -> Counts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            offered: read(&self.offered),
            sent: read(&self.sent),
            dropped: read(&self.dropped),
            accepted: read(&self.accepted),
            refused: read(&self.refused),
            unknown: read(&self.unknown),
        }
    }

    pub(super) fn publish(&self, counts: &Counts) {
        let write = |counter: &AtomicU64, value| counter.store(value, Ordering::Relaxed);
        write(&self.offered, counts.offered);
        write(&self.sent, counts.sent);
        write(&self.dropped, counts.dropped);
        write(&self.accepted, counts.accepted);
        write(&self.refused, counts.refused);
        write(&self.unknown, counts.unknown);
    }
}
