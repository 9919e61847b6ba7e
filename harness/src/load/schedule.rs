//! Arrival schedules as a drill states them: phases of one shape each. When the arrivals fall is
//! worked out by [`super::timetable::Timetable`].

use serde::{Deserialize, Serialize};

use super::timetable::Timetable;

/// Phases one after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    pub phases: Vec<Phase>,
}

/// A stretch of time with one shape of rate. Rates are requests per second, in steps of 0.001.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "shape", rename_all = "snake_case")]
pub enum Phase {
    Constant {
        name: String,
        rate_per_s: f64,
        duration_ms: u64,
    },
    Ramp {
        name: String,
        from_per_s: f64,
        to_per_s: f64,
        duration_ms: u64,
    },
    /// `base_per_s`, with `peak_per_s` from `peak_at_ms` for `peak_ms`.
    Spike {
        name: String,
        base_per_s: f64,
        peak_per_s: f64,
        peak_at_ms: u64,
        peak_ms: u64,
        duration_ms: u64,
    },
}

impl Phase {
    pub fn name(&self) -> &str {
        match self {
            Self::Constant { name, .. } | Self::Ramp { name, .. } | Self::Spike { name, .. } => {
                name
            }
        }
    }

    pub fn duration_ms(&self) -> u64 {
        match self {
            Self::Constant { duration_ms, .. }
            | Self::Ramp { duration_ms, .. }
            | Self::Spike { duration_ms, .. } => *duration_ms,
        }
    }
}

impl Schedule {
    /// The arrivals worked out; do this once and ask it for times.
    pub fn timetable(&self) -> Timetable {
        Timetable::new(&self.phases)
    }

    /// Arrivals in all phases together.
    pub fn count(&self) -> u64 {
        self.timetable().count()
    }

    /// From the first arrival to the end of the last phase.
    pub fn duration_ms(&self) -> u64 {
        self.phases.iter().map(Phase::duration_ms).sum()
    }
}
