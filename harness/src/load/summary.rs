//! Figures of a finished load, as saved in `load.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One run's load in numbers. Latencies in microseconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadSummary {
    /// Arrivals that the schedule holds.
    pub offered: u64,
    /// Arrivals that were written to a connection.
    pub sent: u64,
    /// Sent more than 1 ms (ten ticks) after their time.
    pub late: u64,
    /// Never sent.
    pub dropped: u64,
    pub offered_per_s: f64,
    pub sent_per_s: f64,
    pub sent_share: f64,
    /// Intended to sent.
    pub schedule_lag_us: Percentiles,
    /// Intended to completed.
    pub response_us: Percentiles,
    /// Sent to completed.
    pub service_us: Percentiles,
    pub phases: Vec<PhaseSummary>,
    /// Buy attempts by outcome: `accepted`, `refused:<reason>`, `unknown:<reason>`.
    pub outcomes: BTreeMap<String, u64>,
    /// Follow-up requests by kind and outcome: `pay:accepted`, ...
    pub follow_ups: BTreeMap<String, u64>,
    pub timeline: Vec<Interval>,
    /// When the last buy ended that was unknown or an outage refusal; since the first arrival.
    pub last_outage_ms: Option<u64>,
    pub first_outage_ms: Option<u64>,
    /// The schedule was cut short (abort, Ctrl-C): never a pass.
    pub aborted: Option<String>,
    pub duration_ms: u64,
    /// CPU that the generator's own thread used.
    pub generator_cpu_ms: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Percentiles {
    pub p50: u64,
    pub p90: u64,
    pub p99: u64,
    pub p999: u64,
    pub max: u64,
}

/// The same figures for one phase of the schedule.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseSummary {
    pub name: String,
    pub offered: u64,
    pub sent: u64,
    pub schedule_lag_us: Percentiles,
    pub response_us: Percentiles,
}

/// One second of the load; counts by the time of the intended start. A buy that ended is in exactly one of
/// `accepted`, `refused` (a decision), `outage` (a refusal that tells of one) and `unknown`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    pub at_ms: u64,
    pub offered: u64,
    pub sent: u64,
    pub accepted: u64,
    pub refused: u64,
    pub outage: u64,
    pub unknown: u64,
    pub response_us_p50: u64,
    pub response_us_p99: u64,
}
