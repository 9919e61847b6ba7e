//! Q1: buyers were served as well as the drill demands, before, during and after the faults.

use super::case::{Case, Checker};
use super::finding::Finding;
use super::levels::Level;
use super::spells::Spell;
use super::{CheckId, Witness};
use crate::drill::plan::LevelBounds;
use crate::figures::{count, percent, us};

pub struct ServiceLevels;

impl Checker for ServiceLevels {
    fn id(&self) -> CheckId {
        CheckId::Q1
    }

    fn title(&self) -> &'static str {
        "Service levels: answers in time and no outage beyond what the drill allows"
    }

    fn judge(&self, case: &Case<'_>) -> Finding {
        let mut finding = Finding::default();
        let demanded = &case.evidence.plan.expect.service_levels;
        let spells = [
            (Spell::Before, &demanded.before),
            (Spell::During, &demanded.during),
            (Spell::After, &demanded.after),
        ];
        if spells.iter().all(|(_, bounds)| bounds.is_none()) {
            finding.doubt("the drill demands no level; add [expect.service_levels]".to_owned());
        }
        if let Some(gap) = case.history_gap() {
            finding.doubt(gap);
        }
        for (spell, bounds) in spells {
            match (case.purchases.levels.service(spell).level(), bounds) {
                (Some(level), Some(bounds)) => judge_level(&level, bounds, &mut finding),
                (None, Some(_)) => {
                    finding.doubt(format!("nobody bought {} the faults", spell.name()));
                }
                (_, None) => {}
            }
        }
        for level in case.purchases.levels.all() {
            finding.fact(figures(&level));
        }
        finding
    }
}

fn judge_level(level: &Level, bounds: &LevelBounds, finding: &mut Finding) {
    let witness = |demanded: String| Witness {
        subject: format!("{} the faults", level.spell.name()),
        events: vec![figures(level), demanded],
    };
    if let Some(max_us) = bounds
        .response_us_p99_max
        .filter(|max| level.response_us_p99 > *max)
    {
        finding.violation("p99 of the response time beyond the bound", || {
            witness(format!("at most {} are allowed", us(max_us)))
        });
    }
    if let Some(min) = bounds
        .served_share_min
        .filter(|min| level.served_share < *min)
    {
        finding.violation("share of buyers served below the bound", || {
            witness(format!("at least {} are demanded", percent(min)))
        });
    }
}

fn figures(level: &Level) -> String {
    format!(
        "{}: {} of {} buys served, response p99 {}",
        level.spell.name(),
        percent(level.served_share),
        count(level.buys),
        us(level.response_us_p99)
    )
}

#[cfg(test)]
mod tests {
    use super::super::CheckResult;
    use super::super::Verdict::{self, Fail, Inconclusive, Pass};
    use super::super::tiny_history::{Tiny, broker_killed};
    use super::*;
    use crate::drill::plan::ServiceLevels as Demanded;

    /// Judged with bounds for the time before any fault.
    fn verdict(
        tiny: Tiny,
        response_us_p99_max: Option<u64>,
        served_share_min: Option<f64>,
    ) -> Verdict {
        let bounds = LevelBounds {
            response_us_p99_max,
            served_share_min,
        };
        let judged = tiny.with(|e| {
            e.plan.expect.service_levels = Demanded {
                before: Some(bounds),
                ..Demanded::default()
            };
        });
        judged.check(CheckId::Q1).verdict
    }

    #[test]
    fn bounds_are_kept_or_not() {
        let sale = || Tiny::sale(4).bought(1).refused(2, "sold_out");
        // Answers take 1 ms.
        let cases = [
            ("in time", verdict(sale(), Some(1_000), None), Pass),
            ("too slow", verdict(sale(), Some(900), None), Fail),
            ("all served", verdict(sale(), None, Some(1.0)), Pass),
            (
                "a third out",
                verdict(sale().refused(3, "paused"), None, Some(0.7)),
                Fail,
            ),
            (
                "a third unanswered",
                verdict(sale().unknown(3), None, Some(0.7)),
                Fail,
            ),
            (
                "a third may be",
                verdict(sale().unknown(3), None, Some(0.6)),
                Pass,
            ),
            (
                "nobody came",
                verdict(Tiny::sale(4), None, Some(0.6)),
                Inconclusive,
            ),
            (
                "nothing demanded",
                sale().check(CheckId::Q1).verdict,
                Inconclusive,
            ),
        ];
        for (what, found, expected) in cases {
            assert_eq!(found, expected, "{what}");
        }
    }

    /// One buyer served before a fault, one sent away while it lasts, one of two sent away after it.
    #[test]
    fn each_spell_has_its_own_bounds_and_figures() {
        let at = |tiny: Tiny, ms: u64| {
            tiny.but(|one| {
                one.intended_ns = ms * 1_000_000;
                one.sent_ns = one.intended_ns;
                one.completed_ns = one.intended_ns + 1_000_000;
            })
        };
        let judged = |before: f64, during: f64, after: f64| {
            let tiny = at(Tiny::sale(9).bought(1), 100);
            let tiny = at(tiny.refused(2, "paused"), 1_500);
            let tiny = at(at(tiny.refused(3, "paused"), 9_000).bought(4), 9_000);
            let bounds = |min: f64| {
                Some(LevelBounds {
                    response_us_p99_max: None,
                    served_share_min: Some(min),
                })
            };
            let tiny = tiny.with(|e| {
                e.plan.expect.recover_ms_max = 1_000;
                e.plan.expect.service_levels.before = bounds(before);
                e.plan.expect.service_levels.during = bounds(during);
                e.plan.expect.service_levels.after = bounds(after);
                e.faults.push(broker_killed(1_000, 2_000));
            });
            tiny.check(CheckId::Q1)
        };
        let kept = judged(1.0, 0.0, 0.5);
        assert_eq!(
            kept.detail,
            "Before: 100 % of 1 buys served, response p99 1.0 ms; \
             during: 0 % of 1 buys served, response p99 0 µs; \
             after: 50 % of 2 buys served, response p99 1.0 ms."
        );
        assert_eq!(kept.verdict, Pass);
        let about = |result: CheckResult| {
            let witnesses = result.witnesses.into_iter();
            witnesses.map(|one| one.witness.subject).collect::<Vec<_>>()
        };
        assert_eq!(about(judged(1.0, 0.1, 0.5)), ["during the faults"]);
        assert_eq!(about(judged(1.0, 0.0, 0.6)), ["after the faults"]);
    }
}
