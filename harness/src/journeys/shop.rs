//! What every buyer of a run shares: who buys what, how to ask for it, how to read the answers, and
//! where to write it down.

use std::sync::Arc;
use std::time::Duration;

use super::buyers::Buyers;
use super::calls::Calls;
use super::clock::Clock;
use super::logbook::Logbook;
use super::{JourneyError, JourneyJob, Journeys};
use crate::history::FaultEpoch;
use crate::load::endpoint::Endpoint;
use crate::load::mapping::Mapping;
use crate::load::order_id::OrderIdField;
use crate::load::reason::reasons;

#[derive(Debug)]
pub struct Shop {
    pub journeys: Journeys,
    pub buyers: Buyers,
    pub calls: Calls,
    pub mapping: Mapping,
    challenge: Option<OrderIdField>,
    pub clock: Clock,
    pub logbook: Logbook,
    pub epoch: Arc<FaultEpoch>,
    pub endpoint: Endpoint,
}

impl Shop {
    /// # Errors
    /// The target's templates cannot be used.
    pub fn new(job: JourneyJob<'_>) -> Result<Self, JourneyError> {
        let (plan, target) = (job.plan, &job.plan.target);
        let length = Duration::from_millis(plan.load.schedule.duration_ms());
        Ok(Self {
            journeys: job.journeys.clone(),
            buyers: Buyers::new(plan, job.journeys),
            calls: Calls::new(plan, &job.variables)?,
            mapping: Mapping::new(target, &reasons(target)),
            challenge: target.challenge_field.as_deref().map(OrderIdField::new),
            clock: Clock::new(job.start, length, job.cancel),
            logbook: Logbook::new(job.history),
            epoch: job.epoch,
            endpoint: job.endpoint,
        })
    }

    /// The challenge in an answer.
    pub fn challenge(&self, body: &[u8]) -> Option<String> {
        let field = self.challenge.as_ref()?;
        field.find(body).map(str::to_owned)
    }
}
