//! Arrival schedules: pure functions from an index to a time.

use serde::{Deserialize, Serialize};

/// Phases one after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    pub phases: Vec<Phase>,
}

/// A stretch of time with one shape of rate. Rates are requests per second.
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
