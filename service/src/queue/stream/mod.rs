//! The stream path, for small sales: the reserve script itself appends the message to a stream in the SKU's slot, so
//! that reservation and message stand or fall together, and no other server is needed (MQ-3).
//!
//! What Redis loses in a failover it loses of both; what a gateway had promised of it goes to MySQL from its memory.

mod consumer;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::direct::{self, Standing};
use super::{Answering, OrderQueue, Progress, QueuePath, Submitted};
use crate::reconcile::applied::AppliedNews;
use crate::sale::catalogue::Catalogue;
use crate::sale::order::OrderMessage;
use crate::sale::sku::Sku;
use crate::sale::transaction::ReserveTransaction;
use crate::store::BATCH_MAX;

pub use consumer::StreamConsumer;

/// Adopting that takes longer is left to the next look.
const ADOPT_PATIENCE: Duration = Duration::from_secs(3);

/// Reserves; the script does the rest.
pub struct StreamQueue {
    pub transaction: ReserveTransaction,
    pub news: AppliedNews,
}

impl OrderQueue for StreamQueue {
    fn submit(&self, order: OrderMessage) -> Answering<'_, Submitted> {
        Box::pin(async move {
            match direct::reserve(&self.transaction, &order).await {
                Standing::Held(reserved) => Submitted::Decided(reserved),
                Standing::Done(submitted) => submitted,
            }
        })
    }

    /// A rebuild need not wait for messages: what they carry stands in the ledger too.
    fn progress(&self) -> Answering<'_, Option<Progress>> {
        Box::pin(std::future::ready(Some(Progress::default())))
    }

    fn backlog(&self) -> Answering<'_, Option<u64>> {
        Box::pin(async {
            let mut backlog = 0;
            for sku in skus(&self.transaction.catalogue) {
                backlog += self.transaction.stock.unfinished(&sku).await.ok()?;
            }
            Some(backlog)
        })
    }

    fn is_connected(&self) -> bool {
        true // Where the SKU's primary is not, its gate is closed.
    }

    fn adopt(&self, orders: Vec<OrderMessage>) -> Answering<'_, usize> {
        Box::pin(async move {
            let mut adopted = 0;
            let all = async {
                for batch in orders.chunks(BATCH_MAX) {
                    match self.transaction.store.apply(batch).await {
                        Ok(applied) => {
                            self.news.tell(&applied);
                            adopted += applied.len();
                        }
                        Err(error) => tracing::debug!(%error, "orders are adopted later"),
                    }
                }
            };
            drop(timeout(ADOPT_PATIENCE, all).await);
            adopted
        })
    }
}

/// The SKUs that go by streams.
fn skus(catalogue: &Catalogue) -> Vec<Arc<Sku>> {
    let mut skus = catalogue.all();
    skus.retain(|sku| sku.rules().queue == QueuePath::Stream);
    skus
}
