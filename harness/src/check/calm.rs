//! Answers in the times after faults, when the service should have been itself again.

use serde::{Deserialize, Serialize};

use super::Evidence;
use super::answers::Answers;
use crate::drill::last_call::is_last_call;
use crate::history::operation::Operation;

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

/// Buys that were sent when every fault so far had been healed for the time that recovery may take.
pub struct Calm {
    /// Fault in force, or too short a time over: from, to; None: not healed. Milliseconds.
    troubled: Vec<(u64, Option<u64>)>,
    first_fault_ms: Option<u64>,
    pub buys: u64,
    /// Those of them that met an outage or were not answered.
    pub outages: u64,
    pub first: Option<Operation>,
    pub last: Option<Operation>,
}

impl Calm {
    pub fn new(evidence: &Evidence) -> Self {
        let grace_ms = evidence.plan.expect.recover_ms_max;
        let troubled = evidence.faults.iter().map(|fault| {
            let over_ms = if fault.heals {
                fault.healed_at_ms
            } else {
                Some(fault.injected_at_ms)
            };
            (fault.injected_at_ms, over_ms.map(|ms| ms + grace_ms))
        });
        let troubled: Vec<_> = troubled.collect();
        Self {
            first_fault_ms: troubled.iter().map(|(from_ms, _)| *from_ms).min(),
            troubled,
            buys: 0,
            outages: 0,
            first: None,
            last: None,
        }
    }

    /// Notes a buy.
    pub fn observe(&mut self, operation: &Operation, answers: &Answers) {
        if self.spell(operation.sent_ns) != Spell::After || is_last_call(operation.key) {
            return;
        }
        self.buys += 1;
        if answers.is_outage(operation) {
            self.outages += 1;
            if self.first.is_none() {
                self.first = Some(operation.clone());
            }
            self.last = Some(operation.clone());
        }
    }

    /// The part of the run that a moment belongs to.
    pub fn spell(&self, at_ns: u64) -> Spell {
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
