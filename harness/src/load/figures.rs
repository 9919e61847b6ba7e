//! Figures that a recorder gathers: of one phase, and of outages.

use hdrhistogram::Histogram;

use super::latency::{histogram, percentiles};
use super::schedule::Phase;
use super::summary::PhaseSummary;

const NS_PER_MS: u64 = 1_000_000;

/// One phase of the schedule.
#[derive(Debug)]
pub struct PhaseFigures {
    name: String,
    pub offered: u64,
    pub sent: u64,
    pub lag_us: Histogram<u64>,
    pub response_us: Histogram<u64>,
}

impl PhaseFigures {
    pub fn new(phase: &Phase) -> Self {
        Self {
            name: phase.name().to_owned(),
            offered: 0,
            sent: 0,
            lag_us: histogram(3),
            response_us: histogram(3),
        }
    }

    pub fn summary(&self) -> PhaseSummary {
        PhaseSummary {
            name: self.name.clone(),
            offered: self.offered,
            sent: self.sent,
            schedule_lag_us: percentiles(&self.lag_us),
            response_us: percentiles(&self.response_us),
        }
    }
}

/// First and last sign of an outage, by the time it was seen.
#[derive(Debug, Default)]
pub struct Outages {
    span_ns: Option<(u64, u64)>,
}

impl Outages {
    /// Signs are seen in the order of time.
    pub fn see(&mut self, at_ns: u64) {
        let first_ns = self.span_ns.map_or(at_ns, |(first_ns, _)| first_ns);
        self.span_ns = Some((first_ns, at_ns));
    }

    pub fn first_ms(&self) -> Option<u64> {
        self.span_ns.map(|(first_ns, _)| first_ns / NS_PER_MS)
    }

    pub fn last_ms(&self) -> Option<u64> {
        self.span_ns.map(|(_, last_ns)| last_ns / NS_PER_MS)
    }
}
