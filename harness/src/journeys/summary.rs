//! Figures of the journeys, as saved in `journeys.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::step::{End, Step};

/// All journeys of a run in numbers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct JourneySummary {
    /// Buyers at the same time.
    pub buyers: u64,
    pub started: u64,
    /// Journeys by how they ended; together they are the started ones.
    pub ends: BTreeMap<End, u64>,
    /// First request to last answer of the journeys that went all the way.
    pub whole_us: Times,
    pub steps: BTreeMap<Step, StepSummary>,
    /// Buy attempts in `journeys.bin`.
    pub buys: u64,
    /// Why they are not what the drill asked for: never a pass.
    pub error: Option<String>,
}

/// Requests of one step by Goose's own metrics: their time ends with the head of the answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepSummary {
    pub requests: u64,
    /// No answer, or one that is neither success nor a refusal that the target names.
    pub failures: u64,
    pub response_us: Times,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    pub p50: u64,
    pub p99: u64,
    pub max: u64,
}

impl JourneySummary {
    /// Journeys that ended so.
    pub fn ended(&self, end: End) -> u64 {
        self.ends.get(&end).copied().unwrap_or(0)
    }

    /// Journeys that went all the way, however they ended.
    pub fn whole(&self) -> u64 {
        let whole = self.ends.iter().filter(|(end, _)| end.is_whole());
        whole.map(|(_, count)| count).sum()
    }

    /// Journeys of which nobody knows the end: a buyer was lost on the way.
    pub fn unended(&self) -> u64 {
        self.started.saturating_sub(self.ends.values().sum())
    }
}
