//! How long buyers felt each fault: from the injection to the last answer that meant an outage.

use serde::{Deserialize, Serialize};

use super::Evidence;
use super::answers::Answers;
use crate::drill::last_call::is_last_call;
use crate::history::operation::Operation;

/// An outage that lasts to within this of the load's end was not seen to end.
const END_OF_LOAD_MS: u64 = 1_000;

/// What buyers felt after one fault, until the next one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recovery {
    pub kind: String,
    pub injected_at_ms: u64,
    /// Outage answers and unknown outcomes between this injection and the next.
    pub outage_answers: u64,
    /// When the first and last of them came.
    pub first_outage_ms: Option<u64>,
    pub last_outage_ms: Option<u64>,
    /// Injection to the last outage answer; 0: buyers felt nothing; None: outage up to the load's end.
    pub recovery_ms: Option<u64>,
}

/// Collects outage answers per fault while the history streams by.
pub struct Outages {
    windows: Vec<Window>,
    load_ms: u64,
}

struct Window {
    kind: String,
    from_ms: u64,
    answers: u64,
    first_ms: Option<u64>,
    last_ms: Option<u64>,
}

impl Outages {
    pub fn new(evidence: &Evidence) -> Self {
        let mut windows: Vec<Window> = evidence
            .faults
            .iter()
            .map(|fault| Window::new(&fault.kind, fault.injected_at_ms))
            .collect();
        windows.sort_by_key(|window| window.from_ms);
        Self {
            windows,
            load_ms: evidence.load.duration_ms,
        }
    }

    /// Notes a buy.
    pub fn observe(&mut self, operation: &Operation, answers: &Answers) {
        // When the last call is made, all has been at rest.
        if answers.is_outage(operation) && !is_last_call(operation.key) {
            self.add(operation.completed_ns / 1_000_000);
        }
    }

    fn add(&mut self, at_ms: u64) {
        let after = self
            .windows
            .partition_point(|window| window.from_ms <= at_ms);
        if let Some(window) = after.checked_sub(1).and_then(|at| self.windows.get_mut(at)) {
            window.answers += 1;
            window.first_ms = Some(window.first_ms.map_or(at_ms, |first| first.min(at_ms)));
            window.last_ms = window.last_ms.max(Some(at_ms));
        }
    }

    pub fn recoveries(&self) -> Vec<Recovery> {
        self.windows
            .iter()
            .map(|window| window.recovery(self.load_ms))
            .collect()
    }
}

impl Window {
    fn new(kind: &str, from_ms: u64) -> Self {
        Self {
            kind: kind.to_owned(),
            from_ms,
            answers: 0,
            first_ms: None,
            last_ms: None,
        }
    }

    fn recovery(&self, load_ms: u64) -> Recovery {
        let recovery_ms = match self.last_ms {
            None => Some(0),
            Some(last) if last + END_OF_LOAD_MS > load_ms => None,
            Some(last) => Some(last - self.from_ms),
        };
        Recovery {
            kind: self.kind.clone(),
            injected_at_ms: self.from_ms,
            outage_answers: self.answers,
            first_outage_ms: self.first_ms,
            last_outage_ms: self.last_ms,
            recovery_ms,
        }
    }
}

/// The longest recovery; None when there was no fault or one was not recovered from.
pub fn longest(recoveries: &[Recovery]) -> Option<u64> {
    let each: Option<Vec<u64>> = recoveries.iter().map(|one| one.recovery_ms).collect();
    each?.into_iter().max()
}

#[cfg(test)]
mod tests {
    use super::super::CheckId;
    use super::super::tiny_history::{Tiny, broker_killed};
    use super::*;
    use crate::drill::last_call::KEYS;
    use crate::faults::FaultEvent;

    fn fault(injected_at_ms: u64) -> FaultEvent {
        broker_killed(injected_at_ms, injected_at_ms + 10)
    }

    /// Recoveries of `tiny`, whose attempts complete at 1, 11, 21 ms and so on.
    fn recoveries(tiny: Tiny, faults: &[u64]) -> (Vec<Option<u64>>, Option<u64>) {
        let faults: Vec<FaultEvent> = faults.iter().map(|at| fault(*at)).collect();
        let judgement = tiny.with(|e| e.faults = faults).judge(&[CheckId::S1]);
        let each = judgement
            .recoveries
            .iter()
            .map(|one| one.recovery_ms)
            .collect();
        (each, judgement.recovery_ms)
    }

    #[test]
    fn counts_from_the_injection_to_the_last_outage_answer() {
        let felt = || {
            Tiny::sale(2)
                .bought(1)
                .refused(2, "paused")
                .unknown(3)
                .refused(4, "sold_out")
        };
        assert_eq!(recoveries(felt(), &[5]), (vec![Some(16)], Some(16)));
        assert_eq!(
            recoveries(felt(), &[15, 5]),
            (vec![Some(6), Some(6)], Some(6))
        );
        assert_eq!(recoveries(felt(), &[30]), (vec![Some(0)], Some(0)));
        assert_eq!(recoveries(felt(), &[]), (vec![], None));
    }

    #[test]
    fn an_outage_up_to_the_end_of_the_load_is_not_recovered() {
        let out_at_11_ms = |load_ms| {
            Tiny::sale(2)
                .bought(1)
                .unknown(2)
                .with(|e| e.load.duration_ms = load_ms)
        };
        assert_eq!(recoveries(out_at_11_ms(1_010), &[5]), (vec![None], None));
        assert_eq!(
            recoveries(out_at_11_ms(1_011), &[5]),
            (vec![Some(6)], Some(6))
        );
    }

    #[test]
    fn outages_are_counted_to_the_fault_before_them_and_none_to_the_last_call() {
        let tiny = Tiny::sale(2)
            .unknown(1)
            .refused(2, "paused")
            .unknown(3)
            .unknown(4)
            .bought(5)
            .unknown(KEYS.start);
        let judged = tiny.with(|e| e.faults = vec![fault(11), fault(40)]);
        let recovery = |injected_at_ms, outage_answers, first_outage_ms, last_outage_ms| Recovery {
            kind: "broker_kill".to_owned(),
            injected_at_ms,
            outage_answers,
            first_outage_ms,
            last_outage_ms,
            recovery_ms: Some(last_outage_ms.map_or(0, |last| last - injected_at_ms)),
        };
        assert_eq!(
            judged.judge(&[CheckId::S1]).recoveries,
            [
                recovery(11, 3, Some(11), Some(31)),
                recovery(40, 0, None, None)
            ]
        );
    }
}
