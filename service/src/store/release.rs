//! Pending releases: reservations that Redis must give back because MySQL has decided so.

use sqlx::{MySqlConnection, QueryBuilder};

use super::order::text;
use super::{Store, StoreError};

/// One reservation to be released in Redis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseRow {
    pub order_id: String,
    pub sale: String,
    pub sku: String,
}

impl Store {
    /// Up to `limit` releases that are not done.
    pub async fn pending_releases(&self, limit: u32) -> Result<Vec<ReleaseRow>, StoreError> {
        let rows = sqlx::query(
            "SELECT order_id, sale, sku FROM releases WHERE done = 0 ORDER BY order_id LIMIT ?",
        )
        .bind(limit)
        .fetch_all(&self.pool)
        .await
        .map_err(|source| StoreError::sql("read pending releases", source))?;
        rows.iter()
            .map(|row| {
                Ok(ReleaseRow {
                    order_id: text(row, "order_id")?,
                    sale: text(row, "sale")?,
                    sku: text(row, "sku")?,
                })
            })
            .collect()
    }

    /// Remembers that Redis has released these.
    pub async fn mark_released(&self, order_ids: &[String]) -> Result<(), StoreError> {
        for ids in order_ids.chunks(500) {
            let mut query = QueryBuilder::new("UPDATE releases SET done = 1 WHERE order_id IN (");
            let mut list = query.separated(", ");
            for id in ids {
                list.push_bind(id);
            }
            query.push(")");
            query
                .build()
                .persistent(false)
                .execute(&self.pool)
                .await
                .map_err(|source| StoreError::sql("mark releases done", source))?;
        }
        Ok(())
    }
}

/// Asks for a release, inside the transaction that decides it.
pub(super) async fn demand(
    connection: &mut MySqlConnection,
    order_id: &str,
    sale: &str,
    sku: &str,
) -> Result<(), StoreError> {
    sqlx::query("INSERT INTO releases (order_id, sale, sku, done) VALUES (?, ?, ?, 0)")
        .bind(order_id)
        .bind(sale)
        .bind(sku)
        .execute(connection)
        .await
        .map(|_| ())
        .map_err(|source| StoreError::sql("write release", source))
}
