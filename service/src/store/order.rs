//! Order rows: their states, how they are read, and which messages can become one.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use sqlx::mysql::MySqlRow;
use sqlx::{MySqlConnection, QueryBuilder, Row};

use super::{Store, StoreError};
use crate::sale::order::OrderMessage;

/// Order ids that have a row, for [`those_in`].
pub(super) const EXISTING: &str = "SELECT order_id FROM orders WHERE order_id IN (";

/// Where an order stands. Created and paid ones hold stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderState {
    Created,
    Paid,
    Cancelled,
    Expired,
    Rejected,
}

impl OrderState {
    /// The name in the database and in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Paid => "paid",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
            Self::Rejected => "rejected",
        }
    }

    /// The order holds stock and its user's purchase right.
    pub fn is_live(self) -> bool {
        matches!(self, Self::Created | Self::Paid)
    }

    pub(super) fn parse(name: &str) -> Result<Self, StoreError> {
        match name {
            "created" => Ok(Self::Created),
            "paid" => Ok(Self::Paid),
            "cancelled" => Ok(Self::Cancelled),
            "expired" => Ok(Self::Expired),
            "rejected" => Ok(Self::Rejected),
            other => Err(StoreError::UnknownValue {
                what: "order state",
                value: other.to_owned(),
            }),
        }
    }
}

/// One stored order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderRow {
    pub order_id: String,
    pub sale: String,
    pub sku: String,
    pub user: String,
    pub quantity: u32,
    pub request_id: String,
    pub state: OrderState,
    /// Why it was rejected; None for every other state.
    pub reason: Option<String>,
    pub created_at_ms: u64,
    pub updated_at_ms: u64,
}

impl OrderRow {
    fn read(row: &MySqlRow) -> Result<Self, StoreError> {
        Ok(Self {
            order_id: text(row, "order_id")?,
            sale: text(row, "sale")?,
            sku: text(row, "sku")?,
            user: text(row, "user")?,
            quantity: number(row, "quantity")?,
            request_id: text(row, "request_id")?,
            state: OrderState::parse(&text(row, "state")?)?,
            reason: row
                .try_get_unchecked("reason")
                .map_err(|source| StoreError::sql("read column reason", source))?,
            created_at_ms: number(row, "created_at_ms")?,
            updated_at_ms: number(row, "updated_at_ms")?,
        })
    }
}

impl Store {
    /// The order with this id, if MySQL has it.
    pub async fn order(&self, order_id: &str) -> Result<Option<OrderRow>, StoreError> {
        sqlx::query(
            "SELECT order_id, sale, sku, user, quantity, request_id, state, reason, created_at_ms, updated_at_ms \
             FROM orders WHERE order_id = ?",
        )
        .bind(order_id)
        .fetch_optional(&self.pool)
        .await
        .map_err(|source| StoreError::sql("read order", source))?
        .as_ref()
        .map(OrderRow::read)
        .transpose()
    }

    /// Which of these order ids have a row, whatever its state.
    pub async fn existing(&self, order_ids: &[String]) -> Result<HashSet<String>, StoreError> {
        let wrap = |source| StoreError::sql("look up order ids", source);
        let mut connection = self.pool.acquire().await.map_err(wrap)?;
        those_in(&mut connection, EXISTING, order_ids).await
    }
}

/// Which of these order ids are found by a query that ends where their list begins.
pub(super) async fn those_in(
    connection: &mut MySqlConnection,
    rows: &str,
    order_ids: &[String],
) -> Result<HashSet<String>, StoreError> {
    let mut found = HashSet::new();
    for ids in order_ids.chunks(500) {
        let mut query = QueryBuilder::new(rows);
        let mut list = query.separated(", ");
        for id in ids {
            list.push_bind(id);
        }
        query.push(")");
        let rows = query
            .build()
            .persistent(false)
            .fetch_all(&mut *connection)
            .await
            .map_err(|source| StoreError::sql("look up order ids", source))?;
        for row in &rows {
            found.insert(text(row, "order_id")?);
        }
    }
    Ok(found)
}

/// Whether a message fits the columns. The gateway must refuse what does not, because the consumer has to.
pub fn check_storable(message: &OrderMessage) -> Result<(), &'static str> {
    let fits = |value: &str, chars: usize| !value.is_empty() && value.chars().count() <= chars;
    let id = &message.order_id;
    if id.len() != 32 || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err("order_id must be 32 ASCII letters and digits");
    }
    if !fits(&message.sale, 64) {
        return Err("sale must have 1 to 64 characters");
    }
    if !fits(&message.sku, 64) {
        return Err("sku must have 1 to 64 characters");
    }
    if !fits(&message.user, 128) {
        return Err("user must have 1 to 128 characters");
    }
    if !fits(&message.request_id, 128) {
        return Err("request_id must have 1 to 128 characters");
    }
    if message.quantity == 0 {
        return Err("quantity must be at least 1");
    }
    Ok(())
}

/// A text column. Unchecked, because sqlx 0.8 takes a column with a `_bin` collation for binary.
pub(super) fn text(row: &MySqlRow, column: &'static str) -> Result<String, StoreError> {
    row.try_get_unchecked(column)
        .map_err(|source| StoreError::sql("read a text column", source))
}

/// A numeric column.
pub(super) fn number<'r, T>(row: &'r MySqlRow, column: &'static str) -> Result<T, StoreError>
where
    T: sqlx::Decode<'r, sqlx::MySql> + sqlx::Type<sqlx::MySql>,
{
    row.try_get(column)
        .map_err(|source| StoreError::sql("read a number column", source))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> OrderMessage {
        OrderMessage {
            order_id: "0123456789abcdef0123456789abcdef".to_owned(),
            sale: "sale".to_owned(),
            sku: "sku".to_owned(),
            user: "user".to_owned(),
            quantity: 1,
            request_id: "request".to_owned(),
            at_ms: 1,
        }
    }

    #[test]
    fn what_does_not_fit_a_column_is_named() {
        type Spoil = fn(&mut OrderMessage);
        let table: [(&str, Spoil); 6] = [
            ("order_id", |m| m.order_id.truncate(31)),
            ("sale", |m| m.sale.clear()),
            ("sku", |m| m.sku = "ü".repeat(65)),
            ("user", |m| m.user = "u".repeat(129)),
            ("request_id", |m| m.request_id = "r".repeat(129)),
            ("quantity", |m| m.quantity = 0),
        ];
        assert_eq!(check_storable(&message()), Ok(()));
        for (field, spoil) in table {
            let mut spoiled = message();
            spoil(&mut spoiled);
            let error = check_storable(&spoiled).unwrap_err();
            assert!(error.starts_with(field), "{field}: {error}");
        }
    }

    #[test]
    fn state_names_are_read_back() {
        for state in [
            OrderState::Created,
            OrderState::Paid,
            OrderState::Cancelled,
            OrderState::Expired,
            OrderState::Rejected,
        ] {
            assert_eq!(OrderState::parse(state.as_str()).unwrap(), state);
        }
        assert!(OrderState::parse("shipped").is_err());
    }
}
