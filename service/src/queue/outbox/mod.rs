//! The outbox path: the reservation first, then the order and its announcement in one transaction of MySQL, many orders
//! to a transaction (MQ-2). A relay sends the announcements through RocketMQ; consumers mark them as received.
//!
//! Nothing is on its way outside the stores: between reservation and commit an order is in Redis's ledger and in the
//! memory of one gateway. What a dead gateway leaves behind is adopted from the ledger (see `reconcile/check_back.rs`).

mod relay;
mod writer;

use std::time::Duration;

use tokio::time::timeout;

use super::direct::{self, Standing};
use super::{Answering, OrderQueue, Progress, Submitted};
use crate::failpoints::{Point, reach};
use crate::sale::order::{OrderMessage, Reserved};
use crate::sale::transaction::ReserveTransaction;
use crate::store::AppliedOutcome;

pub use relay::Relay;
pub use writer::Writer;

/// A buyer who has waited so long for the commit is told that the order is queued: the writer goes on.
const COMMIT_PATIENCE: Duration = Duration::from_secs(3);

/// Reserves, then writes.
pub struct OutboxQueue {
    pub transaction: ReserveTransaction,
    pub writer: Writer,
}

impl OrderQueue for OutboxQueue {
    fn submit(&self, order: OrderMessage) -> Answering<'_, Submitted> {
        Box::pin(async move {
            if !self.is_connected() {
                return Submitted::QueueUnavailable;
            }
            let reserved = match direct::reserve(&self.transaction, &order).await {
                Standing::Held(reserved) => reserved,
                Standing::Done(submitted) => return submitted,
            };
            let written = timeout(COMMIT_PATIENCE, self.writer.write(order)).await;
            reach(Point::AfterCommit);
            Submitted::Decided(match written {
                Ok(Some(AppliedOutcome::Rejected(_))) => Reserved::Refused,
                _ => reserved,
            })
        })
    }

    /// Nothing is in between: what a gateway has promised, it waits for itself.
    fn progress(&self) -> Answering<'_, Option<Progress>> {
        Box::pin(std::future::ready(Some(Progress::default())))
    }

    /// Orders that are promised and not written yet: after a while their buyers do not wait any more, so that nothing
    /// else would hold new ones back.
    fn backlog(&self) -> Answering<'_, Option<u64>> {
        Box::pin(std::future::ready(Some(self.writer.waiting() as u64)))
    }

    fn is_connected(&self) -> bool {
        self.writer.is_flowing()
    }

    /// What takes longer than a buyer would wait, or comes to a writer that is stopped, is left to the next look.
    fn adopt(&self, orders: Vec<OrderMessage>) -> Answering<'_, usize> {
        Box::pin(async move {
            let mut adopted = 0;
            let all = async {
                let posted: Vec<_> = orders
                    .into_iter()
                    .map(|one| self.writer.post(one))
                    .collect();
                for written in posted {
                    adopted += usize::from(written.await.is_ok());
                }
            };
            drop(timeout(COMMIT_PATIENCE, all).await);
            adopted
        })
    }
}
