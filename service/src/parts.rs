//! The parts of the service that a mutants build can replace. A normal build has one of each.

use std::sync::Arc;

use crate::queue::QueueSettings;
use crate::queue::rocketmq::{Producer, QueueError};
use crate::reconcile::rebuild::RebuildStep;
use crate::sale::transaction::ReserveTransaction;
use crate::settings::Settings;
use crate::stock::round::ReserveStep;
use crate::store::Store;

/// Chosen once at start.
#[derive(Debug, Clone, Copy, Default)]
pub struct Parts {
    pub reserve: ReserveStep,
    pub rebuild: RebuildStep,
    #[cfg(feature = "mutants")]
    pub decrement: crate::store::Decrement,
    #[cfg(feature = "mutants")]
    pub check_back: crate::mutants::CheckBack,
}

#[cfg(not(feature = "mutants"))]
impl Parts {
    #[must_use]
    pub fn of(_settings: &Settings) -> Self {
        Self::default()
    }

    #[must_use]
    pub fn store(self, store: Store) -> Store {
        store
    }

    /// # Errors
    /// The queue cannot be reached.
    pub async fn producer(
        self,
        queue: &QueueSettings,
        local: ReserveTransaction,
    ) -> Result<Producer, QueueError> {
        Producer::start(queue, Arc::new(local)).await
    }
}

#[cfg(feature = "mutants")]
impl Parts {
    #[must_use]
    pub fn of(settings: &Settings) -> Self {
        if let Some(mutant) = settings.mutant {
            tracing::warn!(?mutant, "running with a deliberate defect");
        }
        settings
            .mutant
            .map(crate::mutants::Mutant::parts)
            .unwrap_or_default()
    }

    #[must_use]
    pub fn store(self, store: Store) -> Store {
        store.with_decrement(self.decrement)
    }

    /// # Errors
    /// The queue cannot be reached.
    pub async fn producer(
        self,
        queue: &QueueSettings,
        local: ReserveTransaction,
    ) -> Result<Producer, QueueError> {
        use crate::mutants::CheckBack;
        use crate::queue::mutant::CheckBackAlwaysRollsBack;
        match self.check_back {
            CheckBack::FromLedger => Producer::start(queue, Arc::new(local)).await,
            CheckBack::AlwaysRollsBack => {
                Producer::start(queue, Arc::new(CheckBackAlwaysRollsBack(local))).await
            }
        }
    }
}
