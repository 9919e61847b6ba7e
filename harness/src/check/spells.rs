//! Before, during and after the faults: the parts that they divide a run into.

use serde::{Deserialize, Serialize};

use super::Evidence;
use crate::faults::FaultEvent;

/// A part of the run, as the faults divide it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spell {
    /// Up to the first fault.
    Before,
    /// A fault is in force, or its end is not yet as long ago as recovery may take.
    During,
    /// Every fault so far is over for longer than that.
    After,
}

impl Spell {
    pub fn name(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::During => "during",
            Self::After => "after",
        }
    }
}

/// Where each part begins and ends.
pub struct Spells {
    /// Fault in force, or too short a time over: from, to; None: not healed. Milliseconds.
    troubled: Vec<(u64, Option<u64>)>,
    first_fault_ms: Option<u64>,
}

impl Spells {
    pub fn new(evidence: &Evidence) -> Self {
        let grace_ms = evidence.plan.expect.recover_ms_max;
        let troubled = |fault: &FaultEvent| {
            let over_ms = if fault.heals {
                fault.healed_at_ms
            } else {
                Some(fault.injected_at_ms)
            };
            (fault.injected_at_ms, over_ms.map(|ms| ms + grace_ms))
        };
        let faults = &evidence.faults;
        Self {
            troubled: faults.iter().map(troubled).collect(),
            first_fault_ms: faults.iter().map(|fault| fault.injected_at_ms).min(),
        }
    }

    /// The part that a moment belongs to.
    pub fn at(&self, at_ns: u64) -> Spell {
        let at_ms = at_ns / 1_000_000;
        let holds = |&(from_ms, to_ms): &(u64, Option<u64>)| {
            from_ms <= at_ms && to_ms.is_none_or(|to_ms| at_ms <= to_ms)
        };
        if self.first_fault_ms.is_none_or(|first| at_ms < first) {
            Spell::Before
        } else if self.troubled.iter().any(holds) {
            Spell::During
        } else {
            Spell::After
        }
    }
}
