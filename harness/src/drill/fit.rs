//! Fits a drill to the machine: a short trial of the full rate against the prepared service, which refuses all of
//! it because the sale has not opened; where the machine does not hold it, half of it, and so on. What the drill
//! then runs at is told, and saved in the plan: a rate is never lowered silently.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::plan::Plan;
use super::prepare::Prepared;
use super::run::Bench;
use crate::figures::{percent, rate, us};
use crate::load::endpoint::Endpoint;
use crate::load::schedule::{Phase, Schedule, Shape};
use crate::load::spec::{Fitted, LoadSpec};
use crate::load::summary::LoadSummary;
use crate::load::{self, LoadError, LoadJob, Progress};

/// Whether a drill runs at the rates it states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    AsWritten,
    ToMachine,
}

/// Shares of the stated rates that are tried.
const SHARES: [f64; 6] = [1.0, 0.5, 0.25, 0.1, 0.05, 0.025];
const TRIAL_MS: u64 = 2_000;
const LEAD_IN: Duration = Duration::from_millis(500);
/// A trial is held when nearly all is sent, nearly on time, and the sale will find something left of the processors.
const SENT_SHARE_MIN: f64 = 0.999;
const LAG_US_P99_MAX: u64 = 10_000;
const BUSY_SHARE_MAX: f64 = 0.8;

/// A drill that cannot be fitted.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    #[error(
        "--fit tries the load before the sale opens, and target {target} opens it while preparing: give it a [start.open] request"
    )]
    NoOpen { target: String },
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error("the trial's thread died: {0}")]
    Thread(#[from] tokio::task::JoinError),
}

/// The plan at the highest share of its rates that a trial held; the lowest share where none was.
///
/// # Errors
/// The target opens the sale too early for a trial, or the load could not be offered.
pub async fn fitted(plan: &Plan, prepared: &Prepared, bench: &Bench) -> Result<Plan, FitError> {
    if plan.target.start.open.is_none() {
        let target = plan.target.name.clone();
        return Err(FitError::NoOpen { target });
    }
    let asked_per_s = plan.load.schedule.timetable().peak_per_s();
    let mut why = None;
    for share in SHARES {
        let tried = rate(asked_per_s * share);
        bench.narrate.say(&format!(
            "trying {tried} requests/s for {} s",
            TRIAL_MS / 1_000
        ));
        let summary = trial(plan, asked_per_s * share, prepared, bench).await?;
        let lacking = lacking(&summary);
        if lacking.is_none() || share == SHARES[SHARES.len() - 1] {
            let fitted = at_share(plan, share, asked_per_s, why);
            bench.narrate.say(&match &fitted.load.fitted {
                None => format!("this machine holds {tried} requests/s"),
                Some(fitted) => fitted.to_string(),
            });
            return Ok(fitted);
        }
        why = why.or(lacking);
    }
    Ok(plan.clone())
}

/// Why a trial was not held; None: it was.
fn lacking(summary: &LoadSummary) -> Option<String> {
    let host = &summary.host;
    let busy_share = host.own_share + host.others_share + host.steal_share;
    let what = if summary.sent_share < SENT_SHARE_MIN {
        format!("only {} were sent", percent(summary.sent_share))
    } else if summary.schedule_lag_us.p99 > LAG_US_P99_MAX {
        format!("1 % went out {} late", us(summary.schedule_lag_us.p99))
    } else if busy_share > BUSY_SHARE_MAX {
        format!(
            "refusing them alone took {} of the processors",
            percent((busy_share * 100.0).round() / 100.0)
        )
    } else {
        return None;
    };
    Some(what)
}

fn at_share(plan: &Plan, share: f64, asked_per_s: f64, why: Option<String>) -> Plan {
    let mut plan = plan.clone();
    if let Some(reason) = why {
        plan.load.schedule = plan.load.schedule.at_share(share);
        plan.load.fitted = Some(Fitted {
            asked_per_s,
            share,
            reason,
        });
    }
    plan
}

async fn trial(
    plan: &Plan,
    rate_per_s: f64,
    prepared: &Prepared,
    bench: &Bench,
) -> Result<LoadSummary, FitError> {
    let mut spec: LoadSpec = plan.load_spec();
    spec.load.schedule = Schedule::of(vec![Phase {
        name: "trial".to_owned(),
        shape: Shape::Constant {
            rate_per_s,
            duration_ms: TRIAL_MS,
        },
    }]);
    spec.population.retries.share = 0.0;
    let job = LoadJob {
        spec,
        endpoint: Endpoint::local(prepared.service.port),
        variables: prepared.variables.clone(),
        history: None,
        start: Instant::now() + LEAD_IN,
        progress: Arc::new(Progress::default()),
        cancel: Arc::clone(&bench.cancel),
    };
    let figures = tokio::task::spawn_blocking(move || load::run(job)).await??;
    Ok(figures.summary())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::host::HostUse;
    use crate::load::summary::Percentiles;

    #[test]
    fn a_trial_is_held_when_it_is_sent_on_time_with_something_to_spare() {
        let of = |sent_share, lag_us, busy_share| {
            lacking(&LoadSummary {
                sent_share,
                schedule_lag_us: Percentiles {
                    p99: lag_us,
                    ..Percentiles::default()
                },
                host: HostUse {
                    others_share: busy_share,
                    ..HostUse::default()
                },
                ..LoadSummary::default()
            })
        };
        assert_eq!(of(1.0, 500, 0.5), None);
        for (wrong, named) in [
            (of(0.9, 500, 0.5), "only 90 % were sent"),
            (of(1.0, 20_000, 0.5), "1 % went out 20.0 ms late"),
            (of(1.0, 500, 0.93), "took 93 % of the processors"),
        ] {
            assert!(
                wrong.as_deref().is_some_and(|text| text.contains(named)),
                "{wrong:?}"
            );
        }
    }

    #[test]
    fn a_fitted_plan_says_what_was_asked_and_why_it_runs_at_less() {
        let mut plan = crate::check::tiny_plan(3);
        plan.load.schedule = Schedule::of(vec![Phase {
            name: "rush".to_owned(),
            shape: Shape::Constant {
                rate_per_s: 100_000.0,
                duration_ms: 1_000,
            },
        }]);
        let same = at_share(&plan, 1.0, 100_000.0, None);
        assert_eq!(
            (same.load.schedule.count(), same.load.fitted),
            (100_000, None)
        );
        let less = at_share(&plan, 0.25, 100_000.0, Some("it was late".to_owned()));
        assert_eq!(less.load.schedule.count(), 25_000);
        let said = less.load.fitted.unwrap().to_string();
        for part in ["100,000", "25,000", "it was late"] {
            assert!(said.contains(part), "{said}");
        }
    }
}
