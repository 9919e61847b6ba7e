//! Takes every planned fault through its steps on the load's timeline.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;

use super::broker_kill::BrokerKill;
use super::cache_stock_raise::CacheStockRaise;
use super::error::FaultError;
use super::injection::{Injection, Site};
use super::redis_primary_kill::RedisPrimaryKill;
use super::{Fault, FaultEvent};
use crate::drill::plan::PlannedFault;
use crate::environment::{EnvironmentError, Stack};
use crate::target::Target;
use crate::target::template::Variables;

/// How often cancellation, receipts and health are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// A server that is not whole by then will not be.
const HEALED_TIMEOUT: Duration = Duration::from_secs(60);

/// Injects the faults, each at its time after `clock`, the first arrival; returns when all are healed.
/// `variables` are the stack's and the run's, `{sale}` included. After `cancel` nothing more is
/// injected, and what is injected is healed at once.
pub async fn run(
    faults: &[PlannedFault],
    stack: &Stack,
    target: &Target,
    variables: &Variables,
    clock: Instant,
    cancel: &AtomicBool,
) -> Vec<FaultEvent> {
    let site = Site {
        stack,
        target,
        variables,
    };
    join_all(
        faults
            .iter()
            .map(|planned| run_one(planned, site, Timeline { clock, cancel })),
    )
    .await
}

/// Heals whatever is broken, planned or not: no toxic left, every link open, every server back.
///
/// # Errors
/// A server that does not come back.
pub async fn heal_all(stack: &Stack) -> Result<(), EnvironmentError> {
    stack.heal().await
}

async fn run_one(planned: &PlannedFault, site: Site<'_>, timeline: Timeline<'_>) -> FaultEvent {
    let (kind, at_ms) = (planned.fault.kind(), planned.at_ms);
    match &planned.fault {
        Fault::RedisPrimaryKill {
            sku,
            cut_replication_ms,
            restart_after_ms,
        } => {
            let fault = RedisPrimaryKill::new(sku, *cut_replication_ms, *restart_after_ms);
            drive(fault, kind, at_ms, site, timeline).await
        }
        Fault::BrokerKill {
            cut_requests_ms,
            restart_after_ms,
        } => {
            let fault = BrokerKill::new(*cut_requests_ms, *restart_after_ms);
            drive(fault, kind, at_ms, site, timeline).await
        }
        Fault::CacheStockRaise { sku, units } => {
            drive(
                CacheStockRaise::new(sku, *units),
                kind,
                at_ms,
                site,
                timeline,
            )
            .await
        }
    }
}

async fn drive(
    mut fault: impl Injection,
    kind: &str,
    at_ms: u64,
    site: Site<'_>,
    timeline: Timeline<'_>,
) -> FaultEvent {
    let mut event = FaultEvent {
        kind: kind.to_owned(),
        what: String::new(),
        injected_at_ms: at_ms,
        healed_at_ms: None,
        heals: fault.heal_after().is_some(),
        receipt: None,
        error: None,
    };
    if !timeline
        .sleep_until(timeline.clock + Duration::from_millis(at_ms))
        .await
    {
        event.error = Some("cancelled before it was injected".to_owned());
        return event;
    }
    let injected = Instant::now();
    event.injected_at_ms = timeline.ms(injected);
    match break_it(&mut fault, site, &mut event).await {
        Ok(()) => note(
            &mut event,
            prove(&mut fault, site, injected, timeline).await,
        ),
        Err(error) => note(&mut event, Err(error)),
    }
    if fault.heal_after().is_some() {
        match mend(&mut fault, site).await {
            Ok(()) => event.healed_at_ms = Some(timeline.ms(Instant::now())),
            Err(error) => note(&mut event, Err(error)),
        }
    }
    event
}

async fn break_it(
    fault: &mut impl Injection,
    site: Site<'_>,
    event: &mut FaultEvent,
) -> Result<(), FaultError> {
    event.what = fault.applicable(site).await?;
    fault.inject(site).await
}

/// Collects the receipt, and waits for the time to heal.
async fn prove(
    fault: &mut impl Injection,
    site: Site<'_>,
    injected: Instant,
    timeline: Timeline<'_>,
) -> Result<String, FaultError> {
    let heal_at = fault.heal_after().map(|after| injected + after);
    loop {
        let receipt = fault.receipt(site).await;
        let due = heal_at.is_none_or(|at| Instant::now() >= at);
        if receipt.is_ok() || due || timeline.is_cancelled() {
            if let Some(at) = heal_at {
                timeline.sleep_until(at).await;
            }
            return receipt;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

async fn mend(fault: &mut impl Injection, site: Site<'_>) -> Result<(), FaultError> {
    let begun = Instant::now();
    loop {
        // Healing is idempotent, so a heal that failed once is tried again until the deadline.
        let healed = match fault.heal(site).await {
            Ok(()) => fault.is_healed(site).await,
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

/// The load's clock, and the word to stop.
#[derive(Debug, Clone, Copy)]
struct Timeline<'t> {
    clock: Instant,
    cancel: &'t AtomicBool,
}

impl Timeline<'_> {
    fn ms(&self, at: Instant) -> u64 {
        at.saturating_duration_since(self.clock).as_millis() as u64
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// False when cancelled meanwhile.
    async fn sleep_until(&self, at: Instant) -> bool {
        loop {
            if self.is_cancelled() {
                return false;
            }
            let left = at.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            tokio::time::sleep(left.min(LOOK_EVERY)).await;
        }
    }
}
