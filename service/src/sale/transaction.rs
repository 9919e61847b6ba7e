//! The local half of a RocketMQ transaction: reserve, and answer check-backs.

use std::sync::Arc;
use std::time::Duration;

use super::catalogue::Catalogue;
use super::clock;
use super::marks::Generation;
use super::order::{OrderMessage, Reserved};
use super::promises::{PromiseState, Promises};
use super::settler::Settler;
use super::sku::{Gate, Sku};
use crate::operations::metrics::Metrics;
use crate::parts::parts;
use crate::queue::{Decision, LocalTransaction, QueuePath};
use crate::stock::{Settled, Stock};
use crate::store::{OrderState, Store, reason};

/// An order that the ledger does not know may still be on its way to Redis until it is this old.
const RESERVE_AGE_MAX: Duration = Duration::from_secs(5);

/// Reserves in Redis and remembers what it promised.
#[derive(Debug, Clone)]
pub struct ReserveTransaction {
    pub catalogue: Arc<Catalogue>,
    pub stock: Stock,
    pub store: Store,
    pub promises: Arc<Promises>,
    pub settler: Settler,
    pub metrics: Metrics,
}

impl LocalTransaction for ReserveTransaction {
    async fn reserve(&self, message: &OrderMessage) -> Reserved {
        let Some(sku) = self.catalogue.find(&message.sale, &message.sku) else {
            return Reserved::UnknownSku;
        };
        let order = Arc::new(message.clone());
        self.promises.asked(&order);
        let asked = sku.marks.generation();
        let outcome = self.stock.reserve(&sku, Arc::clone(&order)).await;
        self.note(&sku, &order, asked, outcome);
        outcome
    }

    async fn check(&self, message: &OrderMessage) -> Decision {
        let decision = match parts().check_back() {
            None => self.decide(message).await,
            Some(instead) => instead,
        };
        self.metrics.checked_back(decision);
        decision
    }
}

impl ReserveTransaction {
    /// What MySQL has is final; then what this node promised; then the ledger: what it holds was granted, by
    /// whatever node. While a SKU is being rebuilt, what it lacks proves nothing, and the broker is told to ask again.
    async fn decide(&self, message: &OrderMessage) -> Decision {
        match self.store.order(&message.order_id).await {
            Ok(Some(row)) if row.state == OrderState::Rejected => return Decision::RollBack,
            Ok(Some(_)) => return Decision::Commit,
            Ok(None) => {}
            Err(_) => return Decision::Unknown,
        }
        match self
            .promises
            .get(&message.order_id)
            .map(|promise| promise.state)
        {
            Some(PromiseState::Granted) => return Decision::Commit,
            Some(PromiseState::Asked) => return Decision::Unknown,
            Some(PromiseState::Unknown) | None => {}
        }
        let Some(sku) = self.catalogue.find(&message.sale, &message.sku) else {
            return Decision::Unknown;
        };
        self.ask_ledger(&sku, message).await
    }

    /// Keeps what an outcome teaches: promises, marks, and work for the settler.
    fn note(
        &self,
        sku: &Arc<Sku>,
        order: &Arc<OrderMessage>,
        asked: Generation,
        outcome: Reserved,
    ) {
        let id = &order.order_id;
        match outcome {
            Reserved::Granted { .. } => self.promises.granted(order),
            Reserved::Unknown => {
                self.promises.unknown(order);
                self.settler.start(Arc::clone(sku), Arc::clone(order));
            }
            _ => self.promises.refused(id),
        }
        match outcome {
            Reserved::Granted { remaining } if remaining <= 0 => self.sold_out(sku, asked, 1),
            Reserved::SoldOut => self.sold_out(sku, asked, order.quantity),
            // Of a user whose order another node accepted, its repetition must not be refused from memory.
            Reserved::LimitReached if sku.knows(&order.user) => {
                sku.marks.limited(asked, &order.user, order.quantity);
            }
            // Redis is ahead of what this node has heard.
            Reserved::Closed => drop(self.stock.pause(sku)),
            _ => {}
        }
        let is_accepted = match outcome {
            Reserved::Granted { .. } | Reserved::Duplicate => true,
            // Check-back decides it, whoever lives; without messages the settler does, and says so then.
            Reserved::Unknown => sku.rules().queue == QueuePath::RocketMq,
            _ => false,
        };
        if is_accepted {
            sku.accept(&order.user, id);
        }
    }

    /// Refuses from memory from now on, once this node knows every order of the SKU: also those that another node
    /// accepted are answered as the same order again.
    fn sold_out(&self, sku: &Arc<Sku>, asked: Generation, quantity: u32) {
        if sku.marks.is_sold_out(quantity) || !parts().remembers_sold_out() {
            return;
        }
        let (stock, sku) = (self.stock.clone(), Arc::clone(sku));
        tokio::spawn(async move {
            // Whoever is there already will set a mark, or the next answer tries again.
            let Ok(_learning) = sku.learning.try_lock() else {
                return;
            };
            match stock.ledger(&sku).await {
                Ok(ledger) => {
                    let known = ledger.iter().filter(|(_, entry)| !entry.is_refused());
                    for (id, entry) in known {
                        sku.accept(&entry.user, id);
                    }
                    sku.marks.sold_out(asked, quantity);
                }
                Err(error) => tracing::debug!(%error, "ledger cannot be read; Redis is asked on"),
            }
        });
    }

    async fn ask_ledger(&self, sku: &Sku, message: &OrderMessage) -> Decision {
        let is_whole = sku.gate() != Gate::Paused && self.stock.is_ready(sku);
        match self.stock.look_up(sku, &message.order_id).await {
            Ok(Some(entry)) if entry.is_refused() => return self.roll_back(message).await,
            Ok(Some(_)) => return Decision::Commit,
            Ok(None) if !is_whole || is_young(message) => return Decision::Unknown,
            Ok(None) => {}
            Err(_) => return Decision::Unknown,
        }
        match self.stock.settle(sku, &message.order_id).await {
            Ok(Settled::Reserved | Settled::Released) => Decision::Commit,
            Ok(Settled::Refused) => self.roll_back(message).await,
            Err(_) => Decision::Unknown,
        }
    }

    /// Whose reservation has an unknown outcome is told "queued", by a node that may die before it has stored what
    /// became of it. So the rejection is stored before the message, which is all that is left of the order, is gone.
    async fn roll_back(&self, message: &OrderMessage) -> Decision {
        if !parts().stores_rejections() {
            return Decision::RollBack;
        }
        let order = std::slice::from_ref(message);
        match self.store.reject(order, reason::NEVER_RESERVED).await {
            Ok(_) => Decision::RollBack,
            Err(_) => Decision::Unknown,
        }
    }
}

fn is_young(message: &OrderMessage) -> bool {
    u128::from(clock::now_ms().saturating_sub(message.at_ms)) < RESERVE_AGE_MAX.as_millis()
}
