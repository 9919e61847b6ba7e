//! After the purchase: what became of an order, paying it, cancelling it.

use std::sync::Arc;

use super::catalogue::Catalogue;
use super::order::{OrderId, OrderMessage};
use super::promises::{PromiseState, Promises};
use super::waiting_room::WaitingRoom;
use crate::failpoints::{Point, reach};
use crate::reconcile::releases::Releases;
use crate::stock::Stock;
use crate::stock::image::LedgerEntry;
use crate::store::{OrderRow, OrderState, Store, StoreError, Transition};

/// Where an order stands, as the buyer sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderStatus {
    pub state: &'static str,
    pub reason: Option<String>,
}

/// What became of a pay or cancel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The order is in this state now, or was already.
    Done(&'static str),
    /// Another state won.
    Lost(&'static str),
    UnknownOrder,
}

/// State of an order that MySQL does not have yet.
const QUEUED: &str = "queued";

/// Serves buyers who hold an order id.
#[derive(Debug, Clone)]
pub struct Desk {
    pub catalogue: Arc<Catalogue>,
    pub stock: Stock,
    pub store: Store,
    pub promises: Arc<Promises>,
    pub releases: Releases,
    /// While MySQL is slow, buyers who find no seat are told so at once instead of keeping their connections busy.
    pub room: Arc<WaitingRoom>,
}

impl Desk {
    /// MySQL first, then promises and ledger, then MySQL again: an order moves from the one to the other.
    ///
    /// # Errors
    /// MySQL does not answer.
    pub async fn status(&self, order_id: &str) -> Result<Option<OrderStatus>, StoreError> {
        let row = |row: OrderRow| OrderStatus {
            state: row.state.as_str(),
            reason: row.reason,
        };
        if let Some(found) = self.store.order(order_id).await? {
            return Ok(Some(row(found)));
        }
        if self.queued(order_id).await.is_some() {
            return Ok(Some(OrderStatus {
                state: QUEUED,
                reason: None,
            }));
        }
        Ok(self.store.order(order_id).await?.map(row))
    }

    /// # Errors
    /// MySQL does not answer; the order may have been paid.
    pub async fn pay(&self, order_id: &str) -> Result<Change, StoreError> {
        let transition = self.store.pay(order_id).await?;
        Ok(match transition {
            Transition::NotFound if self.queued(order_id).await.is_some() => Change::Lost(QUEUED),
            transition => change(transition, OrderState::Paid),
        })
    }

    /// Cancels, also before the order's message has been applied, and gives the units back in Redis.
    ///
    /// # Errors
    /// MySQL does not answer; the order may have been cancelled.
    pub async fn cancel(&self, order_id: &str) -> Result<Change, StoreError> {
        let mut transition = self.store.cancel(order_id).await?;
        if transition == Transition::NotFound
            && let Some(order) = self.queued(order_id).await
        {
            transition = self.store.cancel_unapplied(&order).await?;
            self.promises.kept(order_id);
        }
        if transition == Transition::Done(OrderState::Cancelled) {
            reach(Point::AfterCancel);
            self.releases.after(order_id).await;
        }
        Ok(change(transition, OrderState::Cancelled))
    }

    /// The order that MySQL does not have yet, promised by this node or another.
    async fn queued(&self, order_id: &str) -> Option<Arc<OrderMessage>> {
        let promise = self.promises.get(order_id);
        if let Some(promise) = promise.filter(|promise| promise.state != PromiseState::Asked) {
            return Some(promise.order);
        }
        for sku in self.catalogue.of_slot(OrderId::parse(order_id)?.slot()) {
            let entry = self.stock.look_up(&sku, order_id).await.ok().flatten();
            if let Some(entry) = entry.filter(LedgerEntry::is_reserved) {
                return Some(Arc::new(entry.message(&sku, order_id)));
            }
        }
        None
    }
}

fn change(transition: Transition, wanted: OrderState) -> Change {
    match transition {
        Transition::Done(state) => Change::Done(state.as_str()),
        Transition::Lost(state) if state == wanted => Change::Done(state.as_str()),
        Transition::Lost(state) => Change::Lost(state.as_str()),
        Transition::NotFound => Change::UnknownOrder,
    }
}
