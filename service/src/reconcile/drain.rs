//! Waits until nothing of a SKU is in flight between Redis and MySQL, on any node.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::patience::Patience;
use super::quiet;
use super::rebuild::Rebuilder;
use crate::queue::Progress;
use crate::sale::clock;
use crate::sale::order::OrderMessage;
use crate::sale::sku::Sku;
use crate::stock::image::LedgerEntry;
use crate::store::StoreError;

/// Time between two looks.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// What was still missing at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Drained {
    /// Orders that got a tombstone, so that a late message changes nothing.
    pub given_up: usize,
    pub took: Duration,
}

impl Rebuilder {
    /// The gate must be fenced under `epoch`. Returns when every gateway is quiet, every order the ledger still holds
    /// has its row, and what was in the queue then has been applied; or gives up what is missing when patience is
    /// over.
    ///
    /// # Errors
    /// MySQL does not answer.
    pub async fn drain(&self, sku: &Arc<Sku>, epoch: u64) -> Result<Drained, StoreError> {
        let started = Instant::now();
        let (mut unapplied, mut mark) = (None, None);
        let mut patience = Patience::default();
        let given_up = loop {
            if self.are_gateways_quiet(sku, epoch).await? {
                self.strike_out(sku, &mut unapplied).await?;
                let reading = self.queues.reading(sku.rules().queue).await;
                let is_known = unapplied.as_ref().is_some_and(HashMap::is_empty);
                if is_known && has_applied_since(&mut mark, reading.as_ref()) {
                    break 0;
                }
                if patience.is_over(Instant::now(), reading.as_ref()) {
                    let lost: Vec<_> = unapplied.unwrap_or_default().into_values().collect();
                    break quiet::give_up(&self.store, &self.metrics, &self.alerts, sku, &lost)
                        .await?;
                }
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        };
        Ok(Drained {
            given_up,
            took: started.elapsed(),
        })
    }

    async fn are_gateways_quiet(&self, sku: &Sku, epoch: u64) -> Result<bool, StoreError> {
        let not_quiet = self
            .store
            .gateways_not_quiet(&sku.sale, &sku.sku, epoch)
            .await?;
        Ok(not_quiet == 0)
    }

    /// Removes what MySQL has by now from the orders that the ledger holds. Read once, and what nobody is left to bring
    /// is adopted then: nothing is reserved any more.
    async fn strike_out(
        &self,
        sku: &Sku,
        unapplied: &mut Option<HashMap<String, OrderMessage>>,
    ) -> Result<(), StoreError> {
        let is_new = unapplied.is_none();
        if is_new {
            *unapplied = self.reserved(sku).await;
        }
        let Some(unapplied) = unapplied.as_mut().filter(|unapplied| !unapplied.is_empty()) else {
            return Ok(());
        };
        let ids: Vec<String> = unapplied.keys().cloned().collect();
        let existing = self.store.existing(&ids).await?;
        unapplied.retain(|id, _| !existing.contains(id));
        if is_new && !unapplied.is_empty() {
            self.adopt(sku, unapplied.values().cloned().collect()).await;
        }
        Ok(())
    }

    /// Live entries of the ledger as messages; `None` if it cannot be read now.
    async fn reserved(&self, sku: &Sku) -> Option<HashMap<String, OrderMessage>> {
        let ledger = match self.stock.ledger(sku).await {
            Ok(ledger) => ledger,
            Err(error) => {
                tracing::debug!(%error, "ledger cannot be read yet");
                return None;
            }
        };
        let reserved = ledger.into_iter().filter(|(_, entry)| entry.is_reserved());
        let message = |(id, entry): (String, LedgerEntry)| (id.clone(), entry.message(sku, &id));
        Some(reserved.map(message).collect())
    }
}

/// Whether all that was in the queue at the first call has been applied. Other SKUs go on selling, so
/// the queue need not ever be empty.
fn has_applied_since(mark: &mut Option<Progress>, now: Option<&Progress>) -> bool {
    now.is_some_and(|now| now.has_applied(mark.get_or_insert_with(|| now.clone())))
}

impl LedgerEntry {
    /// The message of this entry's order.
    #[must_use]
    pub fn message(self, sku: &Sku, order_id: &str) -> OrderMessage {
        OrderMessage {
            order_id: order_id.to_owned(),
            sale: sku.sale.clone(),
            sku: sku.sku.clone(),
            user: self.user,
            quantity: self.quantity,
            request_id: self.request_id,
            at_ms: clock::now_ms(),
        }
    }
}
