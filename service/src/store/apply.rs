//! Applying a batch of order messages: one transaction, one decrement per SKU (MQ-5, MQ-6, DB-1).
//!
//! Order of the locks: consumption rows and orders (by order id), then stock rows (by sale and SKU). The hot
//! stock row comes last and is held only until the commit.

use std::collections::{BTreeMap, HashMap, HashSet};

use sqlx::MySqlConnection;

use super::batch_rows::{
    ids_in, insert_orders, mark_consumed, name_unstorable, over_limit, reject_short,
};
use super::outbox::announce;
use super::stock::{SkuStock, StockTables};
use super::tombstone::reason;
use super::transaction::Work;
use super::{Store, StoreError, release};
use crate::failpoints::{Point, reach};
use crate::parts::parts;
use crate::sale::order::OrderMessage;

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
    /// First delivery, but the order was there before it: written by the outbox path, cancelled or rejected. Nothing
    /// changed.
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
        self.enter(messages, Entry::Delivered).await
    }

    /// As [`Self::apply`], for orders that come one way or the other.
    pub async fn enter(
        &self,
        messages: &[OrderMessage],
        entry: Entry,
    ) -> Result<Vec<Applied>, StoreError> {
        if messages.len() > BATCH_MAX {
            return Err(StoreError::BatchTooLarge {
                size: messages.len(),
                max: BATCH_MAX,
            });
        }
        let outcomes = self
            .transaction(Batch {
                messages,
                entry,
                tables: self.tables,
                tries: 0,
                attempted: None,
            })
            .await?;
        Ok(answers(messages, &outcomes))
    }
}

/// How orders come to the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// By messages, which are marked as consumed.
    Delivered,
    /// From the gateway itself; each one created is announced by a row of the outbox in the same transaction (MQ-2).
    Written,
}

/// A step of a batch that is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The messages are marked as consumed.
    Mark,
    /// The orders are stored and their units taken.
    Enter(Entry),
}

/// The messages of a batch, and how far each is known.
#[derive(Debug, Clone, Copy)]
pub struct Delivery<'a, 'm> {
    /// All of them, each id once.
    pub all: &'a [&'m OrderMessage],
    /// Those that the consumption table does not have.
    pub unseen: &'a [&'m OrderMessage],
    /// Those whose orders were stored just now.
    pub stored: &'a [&'m OrderMessage],
    /// Tries of the batch so far, this one included.
    pub tries: u32,
}

type Outcomes = HashMap<String, AppliedOutcome>;

/// One batch on its way into the tables.
struct Batch<'a> {
    messages: &'a [OrderMessage],
    entry: Entry,
    tables: StockTables,
    tries: u32,
    /// What the previous try meant to commit: if its COMMIT turns out to have happened, that is the answer.
    attempted: Option<Outcomes>,
}

impl Work for Batch<'_> {
    type Outcome = Outcomes;
    const ACTION: &'static str = "apply a batch";

    async fn run(&mut self, connection: &mut MySqlConnection) -> Result<Outcomes, StoreError> {
        self.tries += 1;
        let looks_first = self.entry == Entry::Delivered || self.tries > 1;
        let outcomes = self.apply(connection, looks_first).await?;
        self.attempted = Some(outcomes.clone());
        Ok(outcomes)
    }
}

impl Batch<'_> {
    /// What a gateway writes is new, unless somebody has adopted it in the meantime: then a unique key refuses the
    /// transaction, and only the next try looks before it writes.
    async fn apply(
        &self,
        connection: &mut MySqlConnection,
        looks_first: bool,
    ) -> Result<Outcomes, StoreError> {
        let batch = distinct(self.messages);
        let mut outcomes = HashMap::with_capacity(batch.len());
        let unseen = self.unseen(connection, &batch, &mut outcomes).await?;
        let marks_last = parts().marks_last();
        if !marks_last {
            self.mark(connection, &unseen).await?;
        }
        let taken = match looks_first {
            true => ids_in(connection, "orders", "order_id", &unseen).await?,
            false => HashSet::new(),
        };
        let mut fresh = Vec::with_capacity(unseen.len());
        for &message in &unseen {
            let id = &message.order_id;
            if taken.contains(id) {
                outcomes.insert(id.clone(), self.earlier(id, AppliedOutcome::IdTaken));
            } else {
                fresh.push(message);
            }
        }
        let refused = match looks_first {
            true => over_limit(connection, &fresh).await?,
            false => HashSet::new(),
        };
        if !fresh.is_empty()
            && let Err(error) = insert_orders(connection, &fresh, &refused).await
        {
            return Err(name_unstorable(connection, &fresh, &refused, error).await);
        }
        let takers = parts().takers(Delivery {
            all: &batch,
            unseen: &unseen,
            stored: &fresh,
            tries: self.tries,
        });
        let short = self.take_stock(connection, takers, &refused).await?;
        for &message in &fresh {
            let outcome = if refused.contains(&message.order_id) {
                AppliedOutcome::Rejected(reason::LIMIT_EXCEEDED)
            } else if short.contains(&message.order_id) {
                reject_short(connection, message).await?;
                AppliedOutcome::Rejected(reason::STOCK_EXHAUSTED)
            } else {
                AppliedOutcome::Created
            };
            if let AppliedOutcome::Rejected(reason) = outcome
                && parts().releases(reason)
            {
                release::demand(connection, &message.order_id, &message.sale, &message.sku).await?;
            }
            outcomes.insert(message.order_id.clone(), outcome);
        }
        after(connection, Step::Enter(self.entry)).await?;
        if marks_last {
            self.mark(connection, &unseen).await?;
        }
        if self.entry == Entry::Written {
            fresh.retain(|order| outcomes.get(&order.order_id) == Some(&AppliedOutcome::Created));
            announce(connection, &fresh).await?;
        }
        Ok(outcomes)
    }

    /// Messages that come for the first time.
    async fn unseen<'m>(
        &self,
        connection: &mut MySqlConnection,
        batch: &[&'m OrderMessage],
        outcomes: &mut Outcomes,
    ) -> Result<Vec<&'m OrderMessage>, StoreError> {
        if self.entry == Entry::Written {
            return Ok(batch.to_vec());
        }
        let consumed = ids_in(connection, "consumed", "message_key", batch).await?;
        let (seen, unseen): (Vec<&OrderMessage>, Vec<&OrderMessage>) = batch
            .iter()
            .copied()
            .partition(|message| consumed.contains(&message.order_id));
        for OrderMessage { order_id, .. } in seen {
            let outcome = self.earlier(order_id, AppliedOutcome::AlreadyApplied);
            outcomes.insert(order_id.clone(), outcome);
        }
        Ok(unseen)
    }

    /// What is not written by the gateway itself is consumed by this.
    async fn mark(
        &self,
        connection: &mut MySqlConnection,
        unseen: &[&OrderMessage],
    ) -> Result<(), StoreError> {
        if self.entry == Entry::Delivered && !unseen.is_empty() {
            mark_consumed(connection, unseen).await?;
            after(connection, Step::Mark).await?;
            reach(Point::AfterMark);
        }
        Ok(())
    }

    /// What an earlier try of this very batch has committed, of which nobody heard; else `otherwise`.
    fn earlier(&self, order_id: &str, otherwise: AppliedOutcome) -> AppliedOutcome {
        let attempted = self.attempted.as_ref();
        attempted
            .and_then(|attempted| attempted.get(order_id).copied())
            .unwrap_or(otherwise)
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
            let mut stock = SkuStock {
                connection: &mut *connection,
                tables: self.tables,
                sale,
                sku,
            };
            let sum = orders.iter().map(|order| i64::from(order.quantity)).sum();
            if stock.take(sum).await? {
                continue;
            }
            orders.sort_by_key(|order| order.at_ms);
            for order in orders {
                if !stock.take(i64::from(order.quantity)).await? {
                    short.insert(order.order_id.clone());
                }
            }
        }
        Ok(short)
    }
}

async fn after(connection: &mut MySqlConnection, step: Step) -> Result<(), StoreError> {
    let Some(after) = parts().after(step, connection) else {
        return Ok(());
    };
    after
        .await
        .map_err(|source| StoreError::sql("go from step to step", source))
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
