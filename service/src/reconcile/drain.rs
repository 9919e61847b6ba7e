//! Waits until nothing of a SKU is in flight between Redis and MySQL.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::rebuild::Rebuilder;
use crate::queue::Progress;
use crate::sale::clock;
use crate::sale::order::OrderMessage;
use crate::sale::promises::{Promise, PromiseState};
use crate::sale::sku::Sku;
use crate::store::{StoreError, reason};

/// After this long with a connected queue a missing message is taken for lost: check-back has come
/// several times by then. While the queue is away nothing could be sold anyway.
pub const DRAIN_MAX: Duration = Duration::from_secs(15);

/// Time between two looks.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Looks between two questions to MySQL about single orders.
const POLLS_PER_LOOK_UP: u32 = 4;

/// Reason of an order that was granted and whose message never came: a broken promise.
pub const NEVER_APPLIED: &str = "never_applied";

/// What was still missing at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Drained {
    /// Orders that got a tombstone, so that a late message changes nothing.
    pub given_up: usize,
    pub took: Duration,
}

impl Rebuilder {
    /// The gate must be closed. Returns when no request is on its way, every order this node promised
    /// or the ledger still holds has its row, and what was in the queue then has been applied; or gives
    /// up what is missing after [`DRAIN_MAX`].
    ///
    /// # Errors
    /// MySQL did not take the tombstones.
    pub async fn drain(&self, sku: &Arc<Sku>) -> Result<Drained, StoreError> {
        let started = Instant::now();
        let mut connected_since = started;
        let mut mark = None;
        let mut foreign = None;
        let mut polls = 0u32;
        while connected_since.elapsed() < DRAIN_MAX {
            if !self.queue.is_connected() {
                connected_since = Instant::now();
            }
            polls += 1;
            if polls.is_multiple_of(POLLS_PER_LOOK_UP) {
                self.strike_out(sku, &mut foreign).await;
            }
            let is_quiet = sku.in_flight() == 0 && self.promises.of_sku(sku).is_empty();
            let is_known = foreign.as_ref().is_some_and(HashMap::is_empty);
            if is_quiet && is_known && self.has_applied_since(&mut mark).await {
                return Ok(Drained {
                    given_up: 0,
                    took: started.elapsed(),
                });
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        let given_up = self.give_up(sku, foreign.unwrap_or_default()).await?;
        Ok(Drained {
            given_up,
            took: started.elapsed(),
        })
    }

    /// Whether all that was in the queue at the first call has been applied. Other SKUs go on selling, so
    /// the queue need not ever be empty.
    async fn has_applied_since(&self, mark: &mut Option<Progress>) -> bool {
        let Some(now) = self.queue.progress().await else {
            return false;
        };
        let earlier = mark.get_or_insert_with(|| now.clone());
        now.has_applied(earlier)
    }

    /// Removes what MySQL has by now from the promises and from the foreign orders: those that only the
    /// ledger knows, granted by another node or before a restart. Failures show as orders left over.
    async fn strike_out(&self, sku: &Sku, foreign: &mut Option<HashMap<String, OrderMessage>>) {
        if foreign.is_none() {
            *foreign = self.reserved_in_ledger(sku).await;
        }
        let promised = self
            .promises
            .of_sku(sku)
            .into_iter()
            .map(|promise| promise.order.order_id.clone());
        let unapplied = foreign.iter().flatten().map(|(id, _)| id.clone());
        let ids: Vec<String> = promised.chain(unapplied).collect();
        if ids.is_empty() {
            return;
        }
        let Ok(existing) = self.store.existing(&ids).await else {
            return;
        };
        for id in &existing {
            self.promises.kept(id);
        }
        if let Some(foreign) = foreign {
            foreign.retain(|id, _| !existing.contains(id));
        }
    }

    /// Live entries of the ledger as messages; `None` if it cannot be read now.
    async fn reserved_in_ledger(&self, sku: &Sku) -> Option<HashMap<String, OrderMessage>> {
        let reserved = match self.stock.reserved(sku).await {
            Ok(reserved) => reserved,
            Err(error) => {
                tracing::debug!(%error, "ledger cannot be read yet");
                return None;
            }
        };
        let message = |(order_id, entry): (String, crate::stock::image::LedgerEntry)| {
            let message = OrderMessage {
                order_id: order_id.clone(),
                sale: sku.sale.clone(),
                sku: sku.sku.clone(),
                user: entry.user,
                quantity: entry.quantity,
                request_id: entry.request_id,
                at_ms: clock::now_ms(),
            };
            (order_id, message)
        };
        Some(reserved.into_iter().map(message).collect())
    }

    async fn give_up(
        &self,
        sku: &Sku,
        mut foreign: HashMap<String, OrderMessage>,
    ) -> Result<usize, StoreError> {
        let promises = self.promises.of_sku(sku);
        for promise in &promises {
            foreign.remove(&promise.order.order_id);
        }
        let (granted, unsure): (Vec<Promise>, Vec<Promise>) = promises
            .into_iter()
            .partition(|promise| promise.state == PromiseState::Granted);
        let message = |promise: &Promise| OrderMessage::clone(&promise.order);
        let lost: Vec<OrderMessage> = granted
            .iter()
            .map(message)
            .chain(foreign.into_values())
            .collect();
        let never_asked: Vec<OrderMessage> = unsure.iter().map(message).collect();

        let never_applied = self.store.reject(&lost, NEVER_APPLIED).await?;
        let never_reserved = self
            .store
            .reject(&never_asked, reason::NEVER_RESERVED)
            .await?;
        self.metrics
            .never_applied
            .increment(never_applied.len() as u64);
        self.metrics
            .broken_promises
            .increment(never_applied.len() as u64);
        for message in lost.iter().chain(&never_asked) {
            self.promises.kept(&message.order_id);
        }
        let given_up = never_applied.len() + never_reserved.len();
        if given_up > 0 {
            tracing::error!(
                sale = sku.sale,
                sku = sku.sku,
                never_applied = never_applied.len(),
                never_reserved = never_reserved.len(),
                in_flight = sku.in_flight(),
                "ALERT: orders given up after the drain's deadline"
            );
        }
        Ok(given_up)
    }
}
