//! L5: the service is itself again in time after each fault, and stays so.

use super::CheckId;
use super::case::{Case, Checker};
use super::finding::Finding;
use super::spells::Spell;
use crate::figures::{count, ms};

/// One outage among so many buys after recovery is tolerated: a lone time-out on a busy machine.
const TOLERATED_ONE_IN: u64 = 1_000;

pub struct Recovered;

impl Checker for Recovered {
    fn id(&self) -> CheckId {
        CheckId::L5
    }

    fn title(&self) -> &'static str {
        "Recovery: after each fault the service serves again in time, and goes on"
    }

    fn judge(&self, case: &Case<'_>) -> Finding {
        let mut finding = Finding::default();
        let calm = case.purchases.levels.service(Spell::After);
        let within = ms(case.evidence.plan.expect.recover_ms_max);
        if case.evidence.faults.is_empty() {
            finding.doubt("there was no fault to recover from".to_owned());
        } else if calm.buys == 0 {
            let text = format!("nobody bought later than {within} after a fault was healed");
            finding.doubt(text);
        }
        if let Some(gap) = case.history_gap() {
            finding.doubt(gap);
        }
        if calm.outages * TOLERATED_ONE_IN > calm.buys {
            for one in calm.first_outage.iter().chain(&calm.last_outage) {
                finding.violation("outage after recovery was due", || {
                    let text = format!("every fault so far had been healed for more than {within}");
                    case.witness_of(one, text)
                });
            }
        }
        let [outages, buys] = [calm.outages, calm.buys].map(count);
        finding.fact(format!(
            "{outages} of {buys} buys met an outage later than {within} after a heal"
        ));
        finding
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict::{Fail, Inconclusive, Pass};
    use super::super::tiny_history::{Tiny, assert_verdicts, broker_killed};
    use super::*;
    use crate::faults::FaultEvent;

    const MS: u64 = 1_000_000;

    /// A fault from 1 s to 2 s; recovery may take 1 s.
    fn faulted(tiny: Tiny) -> Tiny {
        tiny.with(|e| {
            e.plan.expect.recover_ms_max = 1_000;
            e.faults.push(broker_killed(1_000, 2_000));
        })
    }

    fn at(tiny: Tiny, ms: u64) -> Tiny {
        tiny.but(|one| one.sent_ns = ms * MS)
    }

    #[test]
    fn outages_up_to_the_limit_pass() {
        let later = || at(Tiny::sale(9).bought(1), 3_500);
        assert_verdicts(
            CheckId::L5,
            vec![
                ("none", faulted(later()), Pass),
                (
                    "before the fault",
                    faulted(at(later().refused(2, "paused"), 10)),
                    Pass,
                ),
                (
                    "while it lasts",
                    faulted(at(later().refused(2, "paused"), 1_500)),
                    Pass,
                ),
                ("soon after", faulted(at(later().unknown(2), 2_900)), Pass),
            ],
        );
    }

    #[test]
    fn outages_beyond_it_fail() {
        let later = || at(Tiny::sale(9).bought(1), 3_500);
        assert_verdicts(
            CheckId::L5,
            vec![
                (
                    "refused",
                    faulted(at(later().refused(2, "paused"), 3_100)),
                    Fail,
                ),
                ("not answered", faulted(at(later().unknown(2), 9_000)), Fail),
            ],
        );
    }

    #[test]
    fn one_outage_in_a_thousand_buys_is_none() {
        let among = |buys: u64| {
            let calm = (2..=buys).fold(Tiny::sale(1_000), |tiny, key| at(tiny.bought(key), 3_500));
            faulted(at(calm.unknown(1), 3_500))
        };
        assert_verdicts(
            CheckId::L5,
            vec![
                ("in a thousand", among(1_000), Pass),
                ("in fewer", among(999), Fail),
            ],
        );
    }

    #[test]
    fn without_a_later_buy_nothing_is_known() {
        let healed = |change: fn(&mut FaultEvent)| {
            faulted(at(Tiny::sale(9).bought(1), 3_500)).with(|e| change(&mut e.faults[0]))
        };
        assert_verdicts(
            CheckId::L5,
            vec![
                ("no fault", Tiny::sale(9).bought(1), Inconclusive),
                (
                    "too early",
                    faulted(at(Tiny::sale(9).bought(1), 2_500)),
                    Inconclusive,
                ),
                (
                    "not healed",
                    healed(|fault| fault.healed_at_ms = None),
                    Inconclusive,
                ),
                (
                    "late heal",
                    healed(|fault| fault.healed_at_ms = Some(3_000)),
                    Inconclusive,
                ),
            ],
        );
    }
}
