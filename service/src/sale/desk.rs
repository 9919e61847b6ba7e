//! After the purchase: what became of an order, paying it, cancelling it.

use std::sync::Arc;

use super::promises::{PromiseState, Promises};
use crate::failpoints::{Point, reach};
use crate::reconcile::releases::Releases;
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
    pub store: Store,
    pub promises: Arc<Promises>,
    pub releases: Releases,
}

impl Desk {
    /// MySQL first, then the promises, then MySQL again: an order moves from the one to the other.
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
        if self.is_queued(order_id) {
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
            Transition::NotFound if self.is_queued(order_id) => Change::Lost(QUEUED),
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
            && let Some(promise) = self
                .promises
                .get(order_id)
                .filter(|p| p.state != PromiseState::Asked)
        {
            transition = self.store.cancel_unapplied(&promise.order).await?;
            self.promises.kept(order_id);
        }
        if transition == Transition::Done(OrderState::Cancelled) {
            reach(Point::AfterCancel);
            self.releases.after(order_id).await;
        }
        Ok(change(transition, OrderState::Cancelled))
    }

    fn is_queued(&self, order_id: &str) -> bool {
        self.promises
            .get(order_id)
            .is_some_and(|promise| promise.state != PromiseState::Asked)
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
