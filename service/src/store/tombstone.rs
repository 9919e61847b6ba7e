//! Orders that are stored already ended, so that a late message finds its id taken and changes nothing.

use sqlx::MySqlConnection;

use super::error::is_duplicate;
use super::order::OrderState;
use super::stock::StockTables;
use super::transaction::Work;
use super::{Store, StoreError, Transition, now_ms, release, transition};
use crate::parts::parts;
use crate::sale::order::OrderMessage;

/// Why an order is rejected.
pub mod reason {
    /// Broken promise: Redis granted what MySQL does not have.
    pub const STOCK_EXHAUSTED: &str = "stock_exhausted";
    /// Broken promise: Redis granted a second live order of the user.
    pub const LIMIT_EXCEEDED: &str = "limit_exceeded";
    /// No grant had happened, or it was lost before anybody could rely on it.
    pub const NEVER_RESERVED: &str = "never_reserved";
    /// Broken promise: the message came too late.
    pub const STALE: &str = "stale";
    /// Broken promise: MySQL could not store the order, and it was given up.
    pub const DISCARDED: &str = "discarded";
}

impl Store {
    /// Cancels an order whose message has not been applied; if it has been in the meantime, cancels that order.
    /// MySQL's stock was never taken, so only Redis has something to give back.
    pub async fn cancel_unapplied(&self, message: &OrderMessage) -> Result<Transition, StoreError> {
        self.transaction(CancelUnapplied {
            message,
            tables: self.tables,
            tries: 0,
        })
        .await
    }

    /// Stores these orders as rejected unless their id has a row; returns the ids that were stored.
    pub async fn reject(
        &self,
        messages: &[OrderMessage],
        reason: &str,
    ) -> Result<Vec<String>, StoreError> {
        // One order for all writers: no deadlock between two rejecting nodes.
        let mut sorted: Vec<&OrderMessage> = messages.iter().collect();
        sorted.sort_by(|a, b| a.order_id.cmp(&b.order_id));
        let mut rejected = Vec::new();
        for chunk in sorted.chunks(100) {
            let stored = self
                .transaction(Reject {
                    messages: chunk,
                    reason,
                })
                .await?;
            rejected.extend(stored);
        }
        Ok(rejected)
    }
}

struct CancelUnapplied<'a> {
    message: &'a OrderMessage,
    tables: StockTables,
    tries: u32,
}

impl Work for CancelUnapplied<'_> {
    type Outcome = Transition;
    const ACTION: &'static str = "cancel an order before it is applied";

    async fn run(&mut self, connection: &mut MySqlConnection) -> Result<Transition, StoreError> {
        self.tries += 1;
        if bury(connection, self.message, OrderState::Cancelled, None).await? {
            return Ok(Transition::Done(OrderState::Cancelled));
        }
        let outcome = transition::cancel(connection, self.tables, &self.message.order_id).await?;
        Ok(outcome.of_try(self.tries, OrderState::Cancelled))
    }
}

struct Reject<'a> {
    messages: &'a [&'a OrderMessage],
    reason: &'a str,
}

impl Work for Reject<'_> {
    type Outcome = Vec<String>;
    const ACTION: &'static str = "reject orders";

    async fn run(&mut self, connection: &mut MySqlConnection) -> Result<Vec<String>, StoreError> {
        let mut stored = Vec::new();
        for message in self.messages {
            if bury(connection, message, OrderState::Rejected, Some(self.reason)).await? {
                stored.push(message.order_id.clone());
            }
        }
        Ok(stored)
    }
}

/// Inserts the order already ended, with its release; false if the id is taken (the transaction goes on: a
/// duplicate key rolls back its own statement only).
async fn bury(
    connection: &mut MySqlConnection,
    message: &OrderMessage,
    state: OrderState,
    reason: Option<&str>,
) -> Result<bool, StoreError> {
    let now = now_ms();
    let inserted = sqlx::query(
        "INSERT INTO orders (order_id, sale, sku, user, quantity, request_id, state, reason, requested_at_ms, \
         created_at_ms, updated_at_ms, live_key) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
    )
    .bind(&message.order_id)
    .bind(&message.sale)
    .bind(&message.sku)
    .bind(&message.user)
    .bind(message.quantity)
    .bind(&message.request_id)
    .bind(state.as_str())
    .bind(reason)
    .bind(message.at_ms)
    .bind(now)
    .bind(now)
    .execute(&mut *connection)
    .await;
    match inserted {
        Ok(_) => {
            if reason.is_none_or(|reason| parts().releases(reason)) {
                release::demand(connection, &message.order_id, &message.sale, &message.sku).await?;
            }
            Ok(true)
        }
        Err(error) if is_duplicate(&error) => Ok(false),
        Err(source) => Err(StoreError::sql("store an ended order", source)),
    }
}
