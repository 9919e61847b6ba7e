//! The rows that one batch of order messages reads and writes, a statement per kind.

use std::collections::HashSet;

use sqlx::{MySqlConnection, QueryBuilder};

use super::order::text;
use super::tombstone::reason;
use super::{StoreError, Unstorable, now_ms};
use crate::parts::parts;
use crate::queue::bundle;
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
    let ids: Vec<&str> = unseen.iter().map(|one| one.order_id.as_str()).collect();
    let id = text_column("id", 32, "$");
    let sql = format!(
        "INSERT INTO consumed (message_key, consumed_at_ms) SELECT id, ? \
         FROM JSON_TABLE(?, '$[*]' COLUMNS ({id})) AS batch"
    );
    sqlx::query(&sql)
        .bind(now_ms())
        .bind(bundle::body(&ids))
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

/// Inserts the orders as created, those over the limit as rejected. All are one parameter of a statement that is the same
/// for every batch: MySQL parses it once for a connection, and binds three values instead of a thousand.
pub(super) async fn insert_orders(
    connection: &mut MySqlConnection,
    fresh: &[&OrderMessage],
    refused: &HashSet<String>,
) -> Result<(), StoreError> {
    let now = now_ms();
    let sql = insert_sql();
    let rows: Vec<_> = fresh
        .iter()
        .map(|order| row(order, refused.contains(&order.order_id)))
        .collect();
    sqlx::query(&sql)
        .bind(now)
        .bind(now)
        .bind(bundle::body(&rows))
        .execute(connection)
        .await
        .map(|_| ())
        .map_err(|source| StoreError::sql("insert orders", source))
}

/// One order for [`insert_sql`], which names its columns by their places.
type Row<'o> = (&'o str, &'o str, &'o str, &'o str, u32, &'o str, u64, u8);

fn row(order: &OrderMessage, is_refused: bool) -> Row<'_> {
    (
        &order.order_id,
        &order.sale,
        &order.sku,
        &order.user,
        order.quantity,
        &order.request_id,
        order.at_ms,
        u8::from(is_refused),
    )
}

fn insert_sql() -> String {
    let live_key = parts().live_key();
    let live_key = live_key.map_or("NULL".to_owned(), |key| key.to_string());
    let over = reason::LIMIT_EXCEEDED;
    let texts = [
        text_column("order_id", 32, "$[0]"),
        text_column("sale", 64, "$[1]"),
        text_column("sku", 64, "$[2]"),
        text_column("user", 128, "$[3]"),
        text_column("request_id", 128, "$[5]"),
    ]
    .join(", ");
    format!(
        "INSERT INTO orders (order_id, sale, sku, user, quantity, request_id, requested_at_ms, created_at_ms, \
         updated_at_ms, state, reason, live_key) SELECT order_id, sale, sku, user, quantity, request_id, \
         requested_at_ms, ?, ?, IF(refused, 'rejected', 'created'), IF(refused, '{over}', NULL), \
         IF(refused, NULL, {live_key}) FROM JSON_TABLE(?, '$[*]' COLUMNS ({texts}, quantity INT UNSIGNED PATH '$[4]', \
         requested_at_ms BIGINT UNSIGNED PATH '$[6]', refused TINYINT PATH '$[7]')) AS batch"
    )
}

/// A column of a `JSON_TABLE` for a text that its table takes up to `chars_max` of. It is one wider: what is too long is
/// silently cut off here by MariaDB, and must still be too long for the table.
fn text_column(name: &str, chars_max: usize, path: &str) -> String {
    let wider = chars_max + 1;
    format!("{name} VARCHAR({wider}) CHARACTER SET utf8mb4 PATH '{path}'")
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
