//! What follows from an applied batch: promises kept, promises broken.

use std::sync::Arc;

use super::releases::Releases;
use crate::operations::alerts::{Alerts, Trouble};
use crate::operations::metrics::Metrics;
use crate::parts::parts;
use crate::sale::catalogue::Catalogue;
use crate::sale::order::OrderMessage;
use crate::sale::promises::{Promise, Promises};
use crate::store::{Applied, AppliedOutcome, reason};

/// Told by the consumer after each commit.
#[derive(Clone)]
pub struct AppliedNews {
    pub catalogue: Arc<Catalogue>,
    pub promises: Arc<Promises>,
    pub releases: Releases,
    pub metrics: Metrics,
    pub alerts: Alerts,
}

impl AppliedNews {
    pub fn tell(&self, batch: &[Applied]) {
        for applied in batch {
            let promise = self.promises.kept(&applied.order_id);
            match applied.outcome {
                AppliedOutcome::Created => self.metrics.orders_applied.increment(1),
                AppliedOutcome::AlreadyApplied => self.metrics.messages_redelivered.increment(1),
                AppliedOutcome::IdTaken => self.metrics.ids_taken.increment(1),
                AppliedOutcome::Rejected(reason) => self.broken(applied, promise.as_ref(), reason),
            }
        }
    }

    /// A granted order that MySQL would not have was rejected: its units are on their way back, and the stores agree.
    pub fn given_up(&self, order: &OrderMessage) {
        self.promises.kept(&order.order_id);
        self.break_promise(&order.order_id, &order.sku, reason::DISCARDED);
        if let Some(sku) = self.catalogue.find(&order.sale, &order.sku) {
            let text = format!("order {} was granted and given up", order.order_id);
            self.alerts.raise(Trouble::PromiseBroken, &sku, text);
        }
        self.releases.wake();
    }

    fn break_promise(&self, order: &str, sku: &str, reason: &str) {
        self.metrics.broken_promises.increment(1);
        tracing::error!(order, sku, reason, "broken promise");
    }

    /// Redis granted what MySQL does not have: the stores differ, so the SKU closes at once, before its
    /// next unit is promised too, and is rebuilt on the keeper's word.
    fn broken(&self, applied: &Applied, promise: Option<&Promise>, reason: &str) {
        self.break_promise(&applied.order_id, &applied.sku, reason);
        // Whose order this node did not promise itself may be of any sale.
        let skus = match promise.map(|promise| &promise.order) {
            Some(order) => self
                .catalogue
                .find(&order.sale, &order.sku)
                .into_iter()
                .collect(),
            None => self.catalogue.named(&applied.sku),
        };
        for sku in skus {
            let text = format!(
                "order {} was granted and refused: {reason}",
                applied.order_id
            );
            self.alerts.raise(Trouble::PromiseBroken, &sku, text);
            if parts().releases(reason) {
                sku.suspect();
                self.releases.stock.pause(&sku);
            }
        }
        self.releases.wake();
    }
}
