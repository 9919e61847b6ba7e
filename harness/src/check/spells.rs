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

#[cfg(test)]
mod tests {
    use super::super::tiny_history::{Tiny, broker_killed};
    use super::Spell::{After, Before, During};
    use super::*;

    /// The parts that moments of a run belong to; recovery may take 1 s.
    fn spells(faults: Vec<FaultEvent>, moments_ms: &[u64]) -> Vec<Spell> {
        let tiny = Tiny::sale(1).with(|e| {
            e.plan.expect.recover_ms_max = 1_000;
            e.faults = faults;
        });
        let spells = Spells::new(&tiny.evidence);
        let at = |ms: &u64| spells.at(ms * 1_000_000 + 999_999);
        moments_ms.iter().map(at).collect()
    }

    #[test]
    fn trouble_lasts_from_the_fault_until_recovery_is_due() {
        let killed = || broker_killed(1_000, 2_000);
        assert_eq!(spells(Vec::new(), &[0, 9_000]), [Before, Before]);
        assert_eq!(
            spells(vec![killed()], &[0, 999, 1_000, 3_000, 3_001]),
            [Before, Before, During, During, After]
        );
        let unhealed = FaultEvent {
            healed_at_ms: None,
            ..killed()
        };
        assert_eq!(
            spells(vec![unhealed], &[999, 1_000, 59_000]),
            [Before, During, During]
        );
    }

    #[test]
    fn a_change_of_state_is_over_at_once() {
        let changed = FaultEvent {
            heals: false,
            healed_at_ms: None,
            ..broker_killed(1_000, 0)
        };
        assert_eq!(
            spells(vec![changed], &[999, 1_000, 2_000, 2_001]),
            [Before, During, During, After]
        );
    }

    #[test]
    fn between_two_faults_the_service_may_have_recovered() {
        let late_first = vec![broker_killed(6_000, 7_000), broker_killed(1_000, 2_000)];
        assert_eq!(
            spells(late_first, &[999, 1_500, 5_000, 6_000, 8_000, 8_001]),
            [Before, During, After, During, During, After]
        );
    }
}
