//! Takes every planned fault through its steps on the load's timeline.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;

use super::error::FaultError;
use super::kind::Kind;
use super::kinds::run_one;
use super::site::Site;
use super::{FaultEvent, PlannedFault};
use crate::environment::{EnvironmentError, Stack};
use crate::history::FaultEpoch;

/// How often cancellation, receipts and health are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// A server that is not whole by then will not be.
const HEALED_TIMEOUT: Duration = Duration::from_secs(60);
/// Evidence of a change of state, which has no end to wait for.
const RECEIPT_TIMEOUT: Duration = Duration::from_secs(10);

/// Injects the faults, each at its time on the timeline; returns when all are healed.
pub async fn run(
    faults: &[PlannedFault],
    site: Site<'_>,
    timeline: Timeline<'_>,
) -> Vec<FaultEvent> {
    let runs = faults
        .iter()
        .map(|planned| run_one(planned, site, timeline));
    join_all(runs).await
}

/// Heals whatever is broken, planned or not: no toxic left, every link open, every server back.
///
/// # Errors
/// A server that does not come back.
pub async fn heal_all(stack: &Stack) -> Result<(), EnvironmentError> {
    stack.heal().await
}

/// One fault on its way.
struct Injection<'k, K: Kind> {
    kind: &'k K,
    state: K::State,
    event: FaultEvent,
}

/// Takes a fault of kind `K` through its steps.
pub(super) async fn drive<K: Kind>(
    kind: &K,
    planned: &PlannedFault,
    site: Site<'_>,
    timeline: Timeline<'_>,
) -> FaultEvent {
    let mut fault = Injection {
        kind,
        state: K::State::default(),
        event: FaultEvent::planned(planned),
    };
    let at = timeline.clock + Duration::from_millis(planned.at_ms);
    if !timeline.sleep_until(Some(at)).await {
        fault.event.error = Some("cancelled before it was injected".to_owned());
        return fault.event;
    }
    let injected = Instant::now();
    fault.event.injected_at_ms = timeline.ms(injected);
    fault.event.injected_epoch = Some(timeline.epoch.advance());
    let heal_at = planned
        .for_ms
        .map(|for_ms| injected + Duration::from_millis(for_ms));
    let receipt = match break_it(&mut fault, site, timeline).await {
        Ok(()) => prove(&mut fault, site, heal_at, timeline).await,
        Err(error) => Err(error),
    };
    note(&mut fault.event, receipt);
    (timeline.tell)(&fault.event);
    if K::HEALS {
        if fault.event.error.is_none() {
            timeline.sleep_until(heal_at).await;
        }
        match mend(&mut fault, site).await {
            Ok(()) => {
                fault.event.healed_at_ms = Some(timeline.ms(Instant::now()));
                fault.event.healed_epoch = Some(timeline.epoch.advance());
            }
            Err(error) => note(&mut fault.event, Err(error)),
        }
        (timeline.tell)(&fault.event);
    }
    fault.event
}

async fn break_it<K: Kind>(
    fault: &mut Injection<'_, K>,
    site: Site<'_>,
    timeline: Timeline<'_>,
) -> Result<(), FaultError> {
    fault.event.what = fault.kind.applicable(&mut fault.state, site).await?;
    (timeline.tell)(&fault.event);
    fault.kind.inject(&mut fault.state, site).await
}

/// Asks for the receipt until there is one or it is too late.
async fn prove<K: Kind>(
    fault: &mut Injection<'_, K>,
    site: Site<'_>,
    heal_at: Option<Instant>,
    timeline: Timeline<'_>,
) -> Result<String, FaultError> {
    let give_up_at = match heal_at {
        None if !K::HEALS => Some(Instant::now() + RECEIPT_TIMEOUT),
        heal_at => heal_at,
    };
    loop {
        let receipt = fault.kind.receipt(&mut fault.state, site).await;
        let late = give_up_at.is_some_and(|at| Instant::now() >= at);
        if receipt.is_ok() || late || timeline.is_cancelled() {
            return receipt;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

async fn mend<K: Kind>(fault: &mut Injection<'_, K>, site: Site<'_>) -> Result<(), FaultError> {
    let begun = Instant::now();
    loop {
        // Healing is idempotent, so a heal that failed once is tried again until the deadline.
        let healed = match fault.kind.heal(&mut fault.state, site).await {
            Ok(()) => fault.kind.is_healed(&fault.state, site).await,
            Err(error) => Err(error),
        };
        match healed {
            Ok(()) => return Ok(()),
            Err(error) if begun.elapsed() > HEALED_TIMEOUT => {
                let waited_s = HEALED_TIMEOUT.as_secs();
                return Err(FaultError::NotHealed {
                    waited_s,
                    missing: error.to_string(),
                });
            }
            Err(_) => tokio::time::sleep(LOOK_EVERY).await,
        }
    }
}

/// Keeps the receipt, or adds to what went wrong.
fn note(event: &mut FaultEvent, result: Result<String, FaultError>) {
    match (result, &mut event.error) {
        (Ok(receipt), _) => event.receipt = Some(receipt),
        (Err(error), Some(errors)) => *errors = format!("{errors}; {error}"),
        (Err(error), none) => *none = Some(error.to_string()),
    }
}

/// The load's clock, the word to stop, and who is told what happens.
#[derive(Clone, Copy)]
pub struct Timeline<'t> {
    /// The first arrival.
    pub clock: Instant,
    /// Advanced with every injection and heal.
    pub epoch: &'t FaultEpoch,
    /// Once it is true nothing more is injected, and what is injected is healed at once.
    pub cancel: &'t AtomicBool,
    /// Called when a fault is about to be injected, when its receipt is there or missing, and when it is healed.
    pub tell: &'t (dyn Fn(&FaultEvent) + Sync),
}

impl Timeline<'_> {
    fn ms(&self, at: Instant) -> u64 {
        self.ns(at) / 1_000_000
    }

    pub(crate) fn ns(&self, at: Instant) -> u64 {
        at.saturating_duration_since(self.clock).as_nanos() as u64
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Sleeps until `at`, None: until cancelled. False when cancelled meanwhile.
    pub(crate) async fn sleep_until(&self, at: Option<Instant>) -> bool {
        loop {
            if self.is_cancelled() {
                return false;
            }
            let left = at.map_or(LOOK_EVERY, |at| {
                at.saturating_duration_since(Instant::now())
            });
            if left.is_zero() {
                return true;
            }
            tokio::time::sleep(left.min(LOOK_EVERY)).await;
        }
    }
}
