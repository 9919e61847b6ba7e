//! Applying a batch of order messages: one transaction, one decrement per SKU (MQ-5, MQ-6, DB-1).
//!
//! Order of the locks: consumption rows and orders (by order id), then stock rows (by sale and SKU). The hot
//! stock row comes last and is held only until the commit.

use std::collections::{BTreeMap, HashMap, HashSet};

use sqlx::MySqlConnection;

use super::batch_rows::{ids_in, insert_orders, mark_consumed, over_limit, reject_short};
use super::tombstone::reason;
use super::transaction::Work;
use super::{Store, StoreError, release};
use crate::parts::parts;
use crate::sale::order::OrderMessage;

/// The last guard against overselling: it takes the units only if they are there (DB-1).
pub const DECREMENT_STOCK: &str =
    "UPDATE stock SET available = available - ? WHERE sale = ? AND sku = ? AND available >= ?";

/// Messages of one transaction at most.
pub const BATCH_MAX: usize = 100;

/// What became of one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppliedOutcome {
    Created,
    /// Stored as rejected, for this reason: a promise is broken.
    Rejected(&'static str),
    /// The consumption table has it: a redelivery, nothing changed.
    AlreadyApplied,
    /// First delivery, but the order was cancelled or rejected before it came: nothing changed.
    IdTaken,
}

/// One message of an applied batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    pub order_id: String,
    pub sku: String,
    pub outcome: AppliedOutcome,
}

impl Store {
    /// Applies up to [`BATCH_MAX`] messages in one transaction; the answer has one entry per message, in the
    /// order given. Repeating it with the same messages changes nothing.
    pub async fn apply(&self, messages: &[OrderMessage]) -> Result<Vec<Applied>, StoreError> {
        if messages.len() > BATCH_MAX {
            return Err(StoreError::BatchTooLarge {
                size: messages.len(),
                max: BATCH_MAX,
            });
        }
        let outcomes = self
            .transaction(Batch {
                messages,
                attempted: None,
            })
            .await?;
        Ok(answers(messages, &outcomes))
    }
}

type Outcomes = HashMap<String, AppliedOutcome>;

/// One batch on its way into the tables.
struct Batch<'a> {
    messages: &'a [OrderMessage],
    /// What the previous try meant to commit: if its COMMIT turns out to have happened, that is the answer.
    attempted: Option<Outcomes>,
}

impl Work for Batch<'_> {
    type Outcome = Outcomes;
    const ACTION: &'static str = "apply a batch";

    async fn run(&mut self, connection: &mut MySqlConnection) -> Result<Outcomes, StoreError> {
        let outcomes = self.apply(connection).await?;
        self.attempted = Some(outcomes.clone());
        Ok(outcomes)
    }
}

impl Batch<'_> {
    async fn apply(&self, connection: &mut MySqlConnection) -> Result<Outcomes, StoreError> {
        let batch = distinct(self.messages);
        let consumed = ids_in(connection, "consumed", "message_key", &batch).await?;
        let taken = ids_in(connection, "orders", "order_id", &batch).await?;
        let mut outcomes = HashMap::with_capacity(batch.len());
        let mut unseen = Vec::with_capacity(batch.len());
        let mut fresh = Vec::with_capacity(batch.len());
        for &message in &batch {
            let id = &message.order_id;
            if consumed.contains(id) {
                let earlier = self
                    .attempted
                    .as_ref()
                    .and_then(|attempted| attempted.get(id).copied());
                outcomes.insert(
                    id.clone(),
                    earlier.unwrap_or(AppliedOutcome::AlreadyApplied),
                );
                continue;
            }
            unseen.push(message);
            if taken.contains(id) {
                outcomes.insert(id.clone(), AppliedOutcome::IdTaken);
            } else {
                fresh.push(message);
            }
        }
        if !unseen.is_empty() {
            mark_consumed(connection, &unseen).await?;
        }
        let refused = over_limit(connection, &fresh).await?;
        if !fresh.is_empty() {
            insert_orders(connection, &fresh, &refused).await?;
        }
        let takers = parts().takers(&batch, &fresh);
        let short = self.take_stock(connection, takers, &refused).await?;
        for message in fresh {
            let outcome = if refused.contains(&message.order_id) {
                AppliedOutcome::Rejected(reason::LIMIT_EXCEEDED)
            } else if short.contains(&message.order_id) {
                reject_short(connection, message).await?;
                AppliedOutcome::Rejected(reason::STOCK_EXHAUSTED)
            } else {
                AppliedOutcome::Created
            };
            if outcome != AppliedOutcome::Created {
                release::demand(connection, &message.order_id, &message.sale, &message.sku).await?;
            }
            outcomes.insert(message.order_id.clone(), outcome);
        }
        Ok(outcomes)
    }

    /// Decrements each SKU once by the sum; where the sum does not fit, order by order. Returns the order ids
    /// for which there was nothing left.
    async fn take_stock(
        &self,
        connection: &mut MySqlConnection,
        takers: &[&OrderMessage],
        refused: &HashSet<String>,
    ) -> Result<HashSet<String>, StoreError> {
        let mut by_sku: BTreeMap<(&str, &str), Vec<&OrderMessage>> = BTreeMap::new();
        for message in takers.iter().filter(|m| !refused.contains(&m.order_id)) {
            by_sku
                .entry((&message.sale, &message.sku))
                .or_default()
                .push(message);
        }
        let mut short = HashSet::new();
        for ((sale, sku), mut orders) in by_sku {
            let sum = orders.iter().map(|order| i64::from(order.quantity)).sum();
            if self.decrement(connection, sale, sku, sum).await? {
                continue;
            }
            orders.sort_by_key(|order| order.at_ms);
            for order in orders {
                let quantity = i64::from(order.quantity);
                if !self.decrement(connection, sale, sku, quantity).await? {
                    short.insert(order.order_id.clone());
                }
            }
        }
        Ok(short)
    }

    /// True if the stock had that many units and they are taken.
    async fn decrement(
        &self,
        connection: &mut MySqlConnection,
        sale: &str,
        sku: &str,
        units: i64,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(&parts().statement(DECREMENT_STOCK))
            .bind(units)
            .bind(sale)
            .bind(sku)
            .bind(units)
            .execute(connection)
            .await;
        let rows = parts().decremented(done.map(|done| done.rows_affected()));
        rows.map(|rows| rows == 1)
            .map_err(|source| StoreError::sql("decrement stock", source))
    }
}

/// The messages by order id, each id once: the lock order of all writers.
fn distinct(messages: &[OrderMessage]) -> Vec<&OrderMessage> {
    let by_id: BTreeMap<&str, &OrderMessage> = messages
        .iter()
        .rev()
        .map(|message| (message.order_id.as_str(), message))
        .collect();
    by_id.into_values().collect()
}

/// One entry per message; the second of two equal ids in a batch is a redelivery.
fn answers(messages: &[OrderMessage], outcomes: &Outcomes) -> Vec<Applied> {
    let mut seen = HashSet::new();
    messages
        .iter()
        .map(|message| Applied {
            order_id: message.order_id.clone(),
            sku: message.sku.clone(),
            outcome: match outcomes.get(&message.order_id) {
                Some(outcome) if seen.insert(&message.order_id) => *outcome,
                _ => AppliedOutcome::AlreadyApplied,
            },
        })
        .collect()
}
