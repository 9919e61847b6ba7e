//! The journeys of a run as a job for a thread of their own.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use goose::metrics::{GooseMetrics, GooseRequestMetricAggregate};

use super::attack::attack;
use super::shop::Shop;
use super::step::Step;
use super::summary::{JourneySummary, StepSummary, Times};
use super::{JourneyError, Journeys};
use crate::drill::plan::Plan;
use crate::history::{FaultEpoch, HistoryWriter};
use crate::load::endpoint::Endpoint;
use crate::load::job::panic_text;
use crate::target::template::Variables;

/// What journeys need; much of it is what the load needs.
#[derive(Debug)]
pub struct JourneyJob<'p> {
    pub plan: &'p Plan,
    pub journeys: &'p Journeys,
    pub endpoint: Endpoint,
    /// Variables of the stack and the run for the request templates.
    pub variables: Variables,
    /// Created as the load's is, in a file of its own.
    pub history: HistoryWriter,
    /// Time of the load's first arrival.
    pub start: Instant,
    /// Advanced by whoever injects faults meanwhile.
    pub epoch: Arc<FaultEpoch>,
    /// Set it to end the journeys within a second.
    pub cancel: Arc<AtomicBool>,
}

/// Journeys that can begin.
#[derive(Debug)]
pub struct Journeying {
    shop: Arc<Shop>,
    timeout: Duration,
}

impl JourneyJob<'_> {
    /// # Errors
    /// The target's templates cannot be used.
    pub fn prepare(self) -> Result<Journeying, JourneyError> {
        Ok(Journeying {
            timeout: Duration::from_millis(self.plan.load.timeout_ms),
            shop: Arc::new(Shop::new(self)?),
        })
    }
}

impl Journeying {
    /// Makes the journeys and waits for their end: that of the load's schedule, and at most the time-out
    /// of a request and some seconds. What went wrong is in the summary, so that it is never missing.
    pub fn run(self) -> JourneySummary {
        let goose = self.on_a_thread();
        let closed = self.shop.logbook.close();
        let (steps, wrong) = match goose {
            Ok(metrics) => {
                let steps = steps(&metrics);
                let wrong = miscounted(&steps, &closed.answered);
                (steps, wrong)
            }
            Err(error) => (BTreeMap::new(), Some(error)),
        };
        JourneySummary {
            buyers: self.shop.journeys.users.into(),
            steps,
            error: closed.failure.or(wrong).map(|error| error.to_string()),
            ..closed.summary
        }
    }

    /// Goose on a thread and a runtime of its own, so that neither the load nor the faults wait for it.
    fn on_a_thread(&self) -> Result<GooseMetrics, JourneyError> {
        thread::scope(|scope| {
            let goose = thread::Builder::new()
                .name("journeys".into())
                .spawn_scoped(scope, || self.on_a_runtime())
                .map_err(JourneyError::Thread)?;
            goose
                .join()
                .unwrap_or_else(|panic| Err(JourneyError::Panicked(panic_text(&*panic))))
        })
    }

    /// When it returns, every buyer is gone, also one that Goose could not end.
    fn on_a_runtime(&self) -> Result<GooseMetrics, JourneyError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(JourneyError::Thread)?;
        runtime.block_on(Box::pin(attack(
            &self.shop,
            &self.shop.endpoint,
            self.timeout,
        )))
    }
}

fn steps(metrics: &GooseMetrics) -> BTreeMap<Step, StepSummary> {
    let of = |step: Step| {
        let mut all = metrics.requests.values();
        all.find(|one| one.path == step.name())
            .map(|one| (step, step_summary(one)))
    };
    Step::ALL.into_iter().filter_map(of).collect()
}

fn step_summary(one: &GooseRequestMetricAggregate) -> StepSummary {
    let times = &one.raw_data;
    StepSummary {
        requests: (one.success_count + one.fail_count) as u64,
        failures: one.fail_count as u64,
        response_us: Times {
            p50: times.percentile_us(0.5),
            p99: times.percentile_us(0.99),
            max: times.maximum_time_us,
        },
    }
}

/// The figures are of use only when Goose counted what its buyers did.
fn miscounted(
    steps: &BTreeMap<Step, StepSummary>,
    answered: &BTreeMap<Step, u64>,
) -> Option<JourneyError> {
    Step::ALL.into_iter().find_map(|step| {
        let counted = steps.get(&step).map_or(0, |one| one.requests);
        let sent = answered.get(&step).copied().unwrap_or(0);
        (counted != sent).then_some(JourneyError::Miscounted {
            step: step.name(),
            counted,
            sent,
        })
    })
}
