//! The journeys of a plan.

use serde::{Deserialize, Serialize};

/// Buyers in a closed loop, from `starts_at_ms` to the end of the load's schedule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Journeys {
    /// Buyers at the same time; each makes one journey after the other.
    pub users: u32,
    /// Buyers that come per second, until all are there.
    pub hatch_per_s: f64,
    /// Pause of a buyer between two steps, and between two journeys.
    pub think_ms: u64,
    /// Buyers with an order who pay, and who cancel; the others leave it.
    pub pay_share: f64,
    pub cancel_share: f64,
    pub poll_every_ms: u64,
    /// Polls after which a buyer gives up.
    pub poll_max: u32,
    /// When the first buyer comes, from the first arrival.
    pub starts_at_ms: u64,
}
