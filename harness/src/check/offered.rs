//! Whether the load was offered as planned: a part of P1. A generator that could not hold its schedule tested
//! something else than the plan says.

use super::case::Case;
use super::finding::Finding;
use crate::figures::{count, percent, us};
use crate::load::summary::PhaseSummary;

pub fn judge(case: &Case<'_>, finding: &mut Finding) {
    let load = &case.evidence.load;
    if load.offered == 0 {
        finding.doubt("the schedule offered no request".to_owned());
    }
    if let Some(why) = &load.aborted {
        finding.doubt(format!("the load was cut short ({why})"));
    }
    let held = [judge_share(case, finding), judge_lag(case, finding)];
    if let Some(cause) = &load.held_up_by
        && held.contains(&false)
    {
        finding.doubt(cause.clone());
    }
}

fn judge_share(case: &Case<'_>, finding: &mut Finding) -> bool {
    let (load, expect) = (&case.evidence.load, &case.evidence.plan.expect);
    let (share, share_min) = (percent(load.sent_share), percent(expect.sent_share_min));
    // Written so that a share that is not a number is a doubt too.
    let held = load.sent_share >= expect.sent_share_min;
    if held {
        finding.fact(format!("{share} of {} requests sent", count(load.offered)));
    } else {
        finding.doubt(format!(
            "only {share} of the requests were sent, {share_min} needed"
        ));
    }
    held
}

/// Phases with a bound of their own are held to that, everything together to the common one unless all have.
fn judge_lag(case: &Case<'_>, finding: &mut Finding) -> bool {
    let (load, expect) = (&case.evidence.load, &case.evidence.plan.expect);
    let own = |phase: &PhaseSummary| expect.phase_lag_us_p99_max.get(&phase.name).copied();
    let mut lags: Vec<(String, u64, u64)> = load
        .phases
        .iter()
        .filter_map(|phase| {
            Some((
                format!(" in `{}`", phase.name),
                phase.schedule_lag_us.p99,
                own(phase)?,
            ))
        })
        .collect();
    if lags.is_empty() || lags.len() < load.phases.len() {
        lags.push((
            String::new(),
            load.schedule_lag_us.p99,
            expect.schedule_lag_us_p99_max,
        ));
    }
    let mut held = true;
    for (place, lag, max) in lags {
        if lag > max {
            held = false;
            finding.doubt(format!(
                "schedule lag p99{place} was {}, a fair load has at most {}",
                us(lag),
                us(max)
            ));
        } else {
            finding.fact(format!("schedule lag p99{place} {}", us(lag)));
        }
    }
    held
}

#[cfg(test)]
mod tests {
    use super::super::Verdict::{Inconclusive, Pass};
    use super::super::tiny_history::{Tiny, assert_verdicts};
    use super::super::{CheckId, Evidence};
    use super::*;
    use crate::load::summary::{LoadSummary, Percentiles};

    fn valid(change: impl FnOnce(&mut Evidence)) -> Tiny {
        Tiny::sale(2).bought(1).with(change)
    }

    #[test]
    fn a_load_that_was_not_as_planned_is_inconclusive() {
        let load = |change: fn(&mut LoadSummary)| valid(|e| change(&mut e.load));
        assert_verdicts(
            CheckId::P1,
            vec![
                ("just held", load(|l| l.schedule_lag_us.p99 = 1_000), Pass),
                (
                    "late",
                    load(|l| l.schedule_lag_us.p99 = 1_001),
                    Inconclusive,
                ),
                (
                    "too little sent",
                    load(|l| l.sent_share = 0.99),
                    Inconclusive,
                ),
                (
                    "no share at all",
                    load(|l| l.sent_share = f64::NAN),
                    Inconclusive,
                ),
                (
                    "aborted",
                    load(|l| l.aborted = Some("Ctrl-C".into())),
                    Inconclusive,
                ),
            ],
        );
    }

    /// An opening that may lag 50 ms, then calm.
    fn opening(lag_us: u64, calm_lag_us: u64, own: &[(&str, u64)]) -> Tiny {
        let phase = |name: &str, p99| PhaseSummary {
            name: name.to_owned(),
            schedule_lag_us: Percentiles {
                p99,
                ..Percentiles::default()
            },
            ..PhaseSummary::default()
        };
        let own = own
            .iter()
            .map(|(name, max)| ((*name).to_owned(), *max))
            .collect();
        valid(|e| {
            e.load.phases = vec![phase("opening", lag_us), phase("calm", calm_lag_us)];
            e.load.schedule_lag_us.p99 = lag_us.max(calm_lag_us);
            e.plan.expect.phase_lag_us_p99_max = own;
        })
    }

    #[test]
    fn a_phase_is_held_to_its_own_bound() {
        let both = [("opening", 50_000), ("calm", 1_000)];
        assert_verdicts(
            CheckId::P1,
            vec![
                ("both held", opening(50_000, 900, &both), Pass),
                (
                    "opening too late",
                    opening(50_001, 900, &both),
                    Inconclusive,
                ),
                ("calm too late", opening(900, 1_001, &both), Inconclusive),
                (
                    "the common bound stays",
                    opening(40_000, 900, &both[..1]),
                    Inconclusive,
                ),
                ("and may hold too", opening(900, 900, &both[..1]), Pass),
            ],
        );
    }

    #[test]
    fn what_held_it_up_is_said_when_it_was_not_held() {
        let cause = |lag| {
            valid(|e| {
                e.load.schedule_lag_us.p99 = lag;
                e.load.held_up_by = Some("no connection had room".to_owned());
            })
            .check(CheckId::P1)
            .detail
            .contains("no connection had room")
        };
        assert!(cause(1_001) && !cause(1_000));
    }
}
