//! Settles reservations whose answer was lost: the ledger decides, and an order that it does not
//! know can never be reserved afterwards and is stored as rejected.

use std::sync::Arc;
use std::time::Duration;

use super::order::OrderMessage;
use super::promises::{PromiseState, Promises};
use super::sku::Sku;
use crate::operations::metrics::Metrics;
use crate::queue::QueuePath;
use crate::queue::outbox::Writer;
use crate::stock::{Settled, Stock};
use crate::store::{Store, reason};

/// Time between two tries while Redis or MySQL does not answer.
const RETRY_INTERVAL: Duration = Duration::from_millis(200);

/// Handle; each lost answer is settled by a task of its own.
#[derive(Debug, Clone)]
pub struct Settler {
    pub stock: Stock,
    pub store: Store,
    pub promises: Arc<Promises>,
    pub metrics: Metrics,
    /// Of what turns out to be reserved where no message carries it.
    pub writer: Writer,
}

impl Settler {
    /// Starts to settle in the background. The order must be among the promises.
    pub fn start(&self, sku: Arc<Sku>, order: Arc<OrderMessage>) {
        let settler = self.clone();
        tokio::spawn(async move {
            while settler.is_unknown(&order) && !settler.settle(&sku, &order).await {
                tokio::time::sleep(RETRY_INTERVAL).await;
            }
        });
    }

    /// False once another attempt, the consumer or the keeper has decided the order.
    fn is_unknown(&self, order: &OrderMessage) -> bool {
        self.promises
            .get(&order.order_id)
            .is_some_and(|promise| promise.state == PromiseState::Unknown)
    }

    /// One try; true if the order is settled.
    async fn settle(&self, sku: &Sku, order: &Arc<OrderMessage>) -> bool {
        match self.stock.settle(sku, &order.order_id).await {
            Ok(Settled::Reserved | Settled::Released) => {
                self.metrics.settled_reserved.increment(1);
                self.promises.granted(order);
                sku.accept(&order.user, &order.order_id);
                if sku.rules().queue == QueuePath::Outbox {
                    drop(self.writer.post(OrderMessage::clone(order)));
                }
                true
            }
            Ok(Settled::Refused) => self.reject(order).await,
            Err(error) => {
                tracing::debug!(order = order.order_id, %error, "not settled yet");
                false
            }
        }
    }

    async fn reject(&self, order: &OrderMessage) -> bool {
        match self
            .store
            .reject(std::slice::from_ref(order), reason::NEVER_RESERVED)
            .await
        {
            Ok(_) => {
                self.metrics.settled_refused.increment(1);
                self.promises.kept(&order.order_id);
                true
            }
            Err(error) => {
                tracing::warn!(order = order.order_id, %error, "rejection not stored yet");
                false
            }
        }
    }
}
