//! The rows that one batch of order messages reads and writes, a statement per kind.

use std::collections::HashSet;

use sqlx::{MySqlConnection, QueryBuilder};

use super::order::text;
use super::tombstone::reason;
use super::{StoreError, Unstorable, now_ms};
use crate::parts::parts;
use crate::sale::order::OrderMessage;

/// Which of the batch's ids a table has. A hint only: what commits in between is caught by the unique key, and
/// the next try sees it.
pub(super) async fn ids_in(
    connection: &mut MySqlConnection,
    table: &str,
    column: &'static str,
    batch: &[&OrderMessage],
) -> Result<HashSet<String>, StoreError> {
    if batch.is_empty() {
        return Ok(HashSet::new());
    }
    let mut query = QueryBuilder::new(format!("SELECT {column} FROM {table} WHERE {column} IN ("));
    let mut list = query.separated(", ");
    for message in batch {
        list.push_bind(&message.order_id);
    }
    query.push(")");
    let rows = query
        .build()
        .fetch_all(connection)
        .await
        .map_err(|source| StoreError::sql("look up the batch", source))?;
    rows.iter().map(|row| text(row, column)).collect()
}

/// Claims the messages: the unique key lets one transaction have each.
pub(super) async fn mark_consumed(
    connection: &mut MySqlConnection,
    unseen: &[&OrderMessage],
) -> Result<(), StoreError> {
    let now = now_ms();
    let mut query = QueryBuilder::new("INSERT INTO consumed (message_key, consumed_at_ms) ");
    query.push_values(unseen, |mut row, message| {
        row.push_bind(&message.order_id).push_bind(now);
    });
    query
        .build()
        .execute(connection)
        .await
        .map(|_| ())
        .map_err(|source| StoreError::sql("mark messages consumed", source))
}

/// Order ids of users who have a live order of the SKU already, in the table or earlier in this batch (DB-6).
pub(super) async fn over_limit(
    connection: &mut MySqlConnection,
    fresh: &[&OrderMessage],
) -> Result<HashSet<String>, StoreError> {
    if fresh.is_empty() {
        return Ok(HashSet::new());
    }
    let mut query = QueryBuilder::new(
        "SELECT sale, sku, user FROM orders WHERE live_key = 1 AND (sale, sku, user) IN ",
    );
    query.push_tuples(fresh, |mut tuple, message| {
        tuple
            .push_bind(&message.sale)
            .push_bind(&message.sku)
            .push_bind(&message.user);
    });
    let rows = query
        .build()
        .fetch_all(connection)
        .await
        .map_err(|source| StoreError::sql("look up live orders", source))?;
    let mut holders = HashSet::new();
    for row in &rows {
        holders.insert((text(row, "sale")?, text(row, "sku")?, text(row, "user")?));
    }
    // Who asked first keeps the order; ids decide between equal times, so that every try decides alike.
    let mut by_time: Vec<&&OrderMessage> = fresh.iter().collect();
    by_time.sort_by_key(|message| (message.at_ms, &message.order_id));
    Ok(by_time
        .into_iter()
        .filter(|m| !holders.insert((m.sale.clone(), m.sku.clone(), m.user.clone())))
        .map(|message| message.order_id.clone())
        .collect())
}

/// Inserts the orders as created, those over the limit as rejected.
pub(super) async fn insert_orders(
    connection: &mut MySqlConnection,
    fresh: &[&OrderMessage],
    refused: &HashSet<String>,
) -> Result<(), StoreError> {
    let now = now_ms();
    let mut query = QueryBuilder::new(
        "INSERT INTO orders (order_id, sale, sku, user, quantity, request_id, requested_at_ms, created_at_ms, \
         updated_at_ms, state, reason, live_key) ",
    );
    // What is the same for nearly all of them is part of the statement: a quarter less for MySQL to bind and log.
    let live_key = parts().live_key();
    let live_key = live_key.map_or("NULL".to_owned(), |key| key.to_string());
    let created = format!("'created', NULL, {live_key}");
    let rejected = format!("'rejected', '{}', NULL", reason::LIMIT_EXCEEDED);
    query.push_values(fresh, |mut row, message| {
        row.push_bind(&message.order_id)
            .push_bind(&message.sale)
            .push_bind(&message.sku)
            .push_bind(&message.user)
            .push_bind(message.quantity)
            .push_bind(&message.request_id)
            .push_bind(message.at_ms)
            .push_bind(now)
            .push_bind(now)
            .push(match refused.contains(&message.order_id) {
                true => &rejected,
                false => &created,
            });
    });
    query
        .build()
        .execute(connection)
        .await
        .map(|_| ())
        .map_err(|source| StoreError::sql("insert orders", source))
}

/// Names the orders that MySQL does not take, when it has refused all of them together: each is offered alone. The
/// transaction fails anyhow; in another one the others go in without them.
pub(super) async fn name_unstorable(
    connection: &mut MySqlConnection,
    fresh: &[&OrderMessage],
    refused: &HashSet<String>,
    together: StoreError,
) -> StoreError {
    if together.is_transient() {
        return together;
    }
    let mut unstorable = Vec::new();
    for message in fresh {
        match insert_orders(connection, &[message], refused).await {
            Ok(()) => {}
            Err(error) if error.is_transient() => return error,
            Err(error) => unstorable.push(Unstorable {
                order_id: message.order_id.clone(),
                reason: error.to_string(),
            }),
        }
    }
    match unstorable.is_empty() {
        true => together,
        false => StoreError::Unstorable(unstorable),
    }
}

/// Turns an order inserted by this transaction into a rejected one.
pub(super) async fn reject_short(
    connection: &mut MySqlConnection,
    message: &OrderMessage,
) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE orders SET state = 'rejected', reason = ?, live_key = NULL WHERE order_id = ?",
    )
    .bind(reason::STOCK_EXHAUSTED)
    .bind(&message.order_id)
    .execute(connection)
    .await
    .map(|_| ())
    .map_err(|source| StoreError::sql("reject an order", source))
}
