//! Samples taken while the load runs: stock in both stores, backlog, counters.

pub mod agreement;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One reading, cheap enough to take several times a second. One line of `samples.jsonl`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Since the first arrival; negative before it.
    pub at_ms: i64,
    /// Units still available, all SKUs together; None: the store did not answer.
    pub store_available: Option<i64>,
    pub cache_available: Option<i64>,
    /// The lowest SKU of each: a negative one is an oversell that the sum may hide.
    pub store_available_min: Option<i64>,
    pub cache_available_min: Option<i64>,
    /// Counters of the service, by the target's names; empty when it did not answer.
    pub counters: BTreeMap<String, f64>,
    /// CPU used so far by each component, milliseconds.
    pub cpu_ms: BTreeMap<String, u64>,
}
