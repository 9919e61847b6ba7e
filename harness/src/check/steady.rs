//! Q2: after the faults the service is what it was before them.

use super::case::{Case, Checker};
use super::finding::Finding;
use super::spells::Spell;
use super::{CheckId, Witness};
use crate::figures::{percent, us};

pub struct Steady;

impl Checker for Steady {
    fn id(&self) -> CheckId {
        CheckId::Q2
    }

    fn title(&self) -> &'static str {
        "Steady state: after the faults buyers are served as they were before them"
    }

    fn judge(&self, case: &Case<'_>) -> Finding {
        let mut finding = Finding::default();
        if let Some(gap) = case.history_gap() {
            finding.doubt(gap);
        }
        let level = |spell| case.purchases.levels.service(spell).level();
        let (Some(before), Some(after)) = (level(Spell::Before), level(Spell::After)) else {
            let text =
                "buyers are needed both before the first fault and after recovery from the last";
            finding.doubt(text.to_owned());
            return finding;
        };
        let bounds = &case.evidence.plan.expect.service_levels;
        let drop = before.served_share - after.served_share;
        if drop > bounds.after_drop_max {
            finding.violation("share of buyers served that did not come back", || {
                Witness {
                    subject: "served".to_owned(),
                    events: vec![
                        format!("before the faults: {}", percent(before.served_share)),
                        format!("after recovery: {}", percent(after.served_share)),
                    ],
                }
            });
        }
        let allowed = before.response_us_p99 as f64 * bounds.after_p99_factor_max;
        if after.response_us_p99 as f64 > allowed {
            finding.violation("response time that did not come back", || Witness {
                subject: "response time p99".to_owned(),
                events: vec![
                    format!("before the faults: {}", us(before.response_us_p99)),
                    format!("after recovery: {}", us(after.response_us_p99)),
                ],
            });
        }
        finding.fact(format!(
            "served {} before and {} after; response p99 {} and {}",
            percent(before.served_share),
            percent(after.served_share),
            us(before.response_us_p99),
            us(after.response_us_p99)
        ));
        finding
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict::{Fail, Inconclusive, Pass};
    use super::super::tiny_history::{Tiny, assert_verdicts, broker_killed};
    use super::*;

    const MS: u64 = 1_000_000;

    fn at(tiny: Tiny, ms: u64, took_ms: u64) -> Tiny {
        tiny.but(|one| {
            one.intended_ns = ms * MS;
            one.sent_ns = ms * MS;
            one.completed_ns = (ms + took_ms) * MS;
        })
    }

    fn us(tiny: Tiny, took_us: u64) -> Tiny {
        tiny.but(|one| one.completed_ns = one.intended_ns + took_us * 1_000)
    }

    /// A fault from 1 s to 2 s, recovered from within 1 s; somebody bought before it.
    fn faulted(after: impl FnOnce(Tiny) -> Tiny) -> Tiny {
        let before = at(Tiny::sale(9).bought(1), 10, 2);
        after(before).with(|e| {
            e.plan.expect.recover_ms_max = 1_000;
            e.faults.push(broker_killed(1_000, 2_000));
        })
    }

    #[test]
    fn what_comes_after_is_measured_by_what_was_before() {
        assert_verdicts(
            CheckId::Q2,
            vec![
                (
                    "as before",
                    faulted(|tiny| at(tiny.bought(2), 5_000, 3)),
                    Pass,
                ),
                (
                    "bad while it lasts",
                    faulted(|tiny| at(at(tiny.unknown(2), 1_500, 900).bought(3), 5_000, 2)),
                    Pass,
                ),
                (
                    "slower for good",
                    faulted(|tiny| at(tiny.bought(2), 5_000, 90)),
                    Fail,
                ),
                (
                    "out for good",
                    faulted(|tiny| at(tiny.unknown(2), 5_000, 2)),
                    Fail,
                ),
                ("nobody came after", faulted(|tiny| tiny), Inconclusive),
                ("no fault", Tiny::sale(9).bought(1), Inconclusive),
            ],
        );
    }

    #[test]
    fn the_bounds_themselves_are_allowed() {
        let judged = |after: fn(Tiny) -> Tiny, drop_max: f64, factor_max: f64| {
            let before = us(Tiny::sale(9).bought(1), 500);
            after(before).with(|e| {
                e.plan.expect.recover_ms_max = 1_000;
                e.plan.expect.service_levels.after_drop_max = drop_max;
                e.plan.expect.service_levels.after_p99_factor_max = factor_max;
                e.faults.push(broker_killed(1_000, 2_000));
            })
        };
        let slower = |tiny: Tiny| us(at(tiny.bought(2), 5_000, 0), 1_000);
        let half_out = |tiny: Tiny| us(at(at(tiny.unknown(2), 5_000, 0).bought(3), 5_000, 0), 500);
        assert_verdicts(
            CheckId::Q2,
            vec![
                ("twice as slow", judged(slower, 0.0, 2.0), Pass),
                ("slower than that", judged(slower, 0.0, 1.9), Fail),
                ("half of them out", judged(half_out, 0.5, 1.0), Pass),
                ("more than allowed", judged(half_out, 0.4, 1.0), Fail),
            ],
        );
    }
}
