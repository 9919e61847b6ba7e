//! Fits a drill to the machine: a short trial of the full rate against the prepared service, which refuses all of
//! it because the sale has not opened; where the machine does not hold it, half of it, and so on. What the drill
//! then runs at is told, and saved in the plan: a rate is never lowered silently.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::plan::Plan;
use super::prepare::Prepared;
use super::run::Bench;
use crate::environment::Stack;
use crate::figures::{percent, rate, us};
use crate::history::FaultEpoch;
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
const BUSY_SHARE_MAX: f64 = 0.75;

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
pub async fn fitted(
    stack: &Stack,
    plan: &Plan,
    prepared: &Prepared,
    bench: &Bench,
) -> Result<Plan, FitError> {
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
        let trial = trial(stack, plan, asked_per_s * share, prepared, bench).await?;
        match lacking(&trial) {
            None => return Ok(told(at_share(plan, share, asked_per_s, why), bench)),
            Some(lacking) => why = why.or(Some(lacking)),
        }
    }
    let lowest = SHARES[SHARES.len() - 1];
    Ok(told(at_share(plan, lowest, asked_per_s, why), bench))
}

fn told(plan: Plan, bench: &Bench) -> Plan {
    let peak_per_s = plan.load.schedule.timetable().peak_per_s();
    bench.narrate.say(&match &plan.load.fitted {
        None => format!("this machine holds {} requests/s", rate(peak_per_s)),
        Some(fitted) => fitted.to_string(),
    });
    plan
}

/// One trial.
#[derive(Debug, Default)]
struct Trial {
    load: LoadSummary,
    /// CPU that generator and service used, of all that there is.
    busy_share: f64,
}

/// Why a trial was not held; None: it was.
fn lacking(trial: &Trial) -> Option<String> {
    let load = &trial.load;
    if load.sent_share < SENT_SHARE_MIN {
        Some(format!("only {} were sent", percent(load.sent_share)))
    } else if load.schedule_lag_us.p99 > LAG_US_P99_MAX {
        let lag = us(load.schedule_lag_us.p99);
        Some(format!("1 % went out {lag} late"))
    } else if trial.busy_share > BUSY_SHARE_MAX {
        let busy = (trial.busy_share * 100.0).round();
        Some(format!(
            "offering and refusing them alone took {busy} % of the processors"
        ))
    } else {
        None
    }
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
    stack: &Stack,
    plan: &Plan,
    rate_per_s: f64,
    prepared: &Prepared,
    bench: &Bench,
) -> Result<Trial, FitError> {
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
        endpoint: prepared.entrance.clone(),
        variables: prepared.variables.clone(),
        history: None,
        start: Instant::now() + LEAD_IN,
        progress: Arc::new(Progress::default()),
        epoch: Arc::new(FaultEpoch::default()),
        cancel: Arc::clone(&bench.cancel),
    };
    let (cpu_ms, since) = (parties_cpu_ms(stack), Instant::now());
    let load = tokio::task::spawn_blocking(move || load::run(job))
        .await??
        .summary();
    let used_ms = parties_cpu_ms(stack).saturating_sub(cpu_ms);
    let all_ms = since.elapsed().as_millis() as u64 * load.host.cpus.max(1);
    Ok(Trial {
        load,
        busy_share: used_ms as f64 / all_ms.max(1) as f64,
    })
}

/// CPU time of those who take part in a refusal.
fn parties_cpu_ms(stack: &Stack) -> u64 {
    let cpu_ms = stack.cpu_ms();
    ["harness", "service"]
        .iter()
        .filter_map(|name| cpu_ms.get(*name))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::summary::Percentiles;

    #[test]
    fn a_trial_is_held_when_it_is_sent_on_time_with_something_to_spare() {
        let of = |sent_share, lag_us, busy_share| {
            lacking(&Trial {
                load: LoadSummary {
                    sent_share,
                    schedule_lag_us: Percentiles {
                        p99: lag_us,
                        ..Percentiles::default()
                    },
                    ..LoadSummary::default()
                },
                busy_share,
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
        let mut plan = crate::check::tiny_plan();
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
