//! Snapshot of a sale's SKUs, from which Redis is rebuilt.

use std::collections::BTreeMap;

use sqlx::{Connection, Executor, MySqlConnection, MySqlPool, Row};

use super::order::{OrderState, number, text};
use super::sale::rules;
use super::{Store, StoreError};
use crate::parts::parts;
use crate::sale::sku::Rules;

/// One order in an image; rejected and ended ones too, because their ids are taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageOrder {
    pub order_id: String,
    pub user: String,
    pub quantity: u32,
    pub state: OrderState,
}

/// Everything MySQL knows about one SKU of a sale, read in one snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkuImage {
    pub sale: String,
    pub sku: String,
    pub total: i64,
    pub available: i64,
    pub rules: Rules,
    pub orders: Vec<ImageOrder>,
}

impl Store {
    /// The SKUs of a sale, by name, all as of one moment. Empty if the sale has none or does not exist.
    pub async fn sku_images(&self, sale: &str) -> Result<Vec<SkuImage>, StoreError> {
        let wrap = |source| StoreError::sql("read the sale's snapshot", source);
        let mut connection = self.decisive().acquire().await.map_err(wrap)?;
        // The session runs READ COMMITTED, in which each statement would see another moment.
        connection
            .execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            .await
            .map_err(wrap)?;
        let mut snapshot = connection
            .begin_with("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
            .await
            .map_err(wrap)?;
        let images = read(&mut snapshot, sale).await?;
        snapshot.rollback().await.map_err(wrap)?;
        Ok(images)
    }

    /// Where that is read which decides what may be sold: on the primary.
    fn decisive(&self) -> &MySqlPool {
        match &self.replica {
            Some(replica) if parts().trusts_replica() => &replica.pool,
            _ => &self.pool,
        }
    }
}

async fn read(connection: &mut MySqlConnection, sale: &str) -> Result<Vec<SkuImage>, StoreError> {
    let wrap = |source| StoreError::sql("read the sale's snapshot", source);
    let stock = sqlx::query(
        "SELECT k.sku, k.total, k.available, s.limit_per_user, s.starts_at_ms, s.ends_at_ms, s.queue \
         FROM stock k JOIN sales s ON s.sale = k.sale WHERE k.sale = ?",
    )
    .bind(sale)
    .fetch_all(&mut *connection)
    .await
    .map_err(wrap)?;
    let mut images = BTreeMap::new();
    for row in &stock {
        let sku = text(row, "sku")?;
        let image = SkuImage {
            sale: sale.to_owned(),
            sku: sku.clone(),
            total: number(row, "total")?,
            available: number(row, "available")?,
            rules: rules(row)?,
            orders: Vec::new(),
        };
        images.insert(sku, image);
    }
    let orders =
        sqlx::query("SELECT order_id, sku, user, quantity, state FROM orders WHERE sale = ?")
            .bind(sale)
            .fetch_all(&mut *connection)
            .await
            .map_err(wrap)?;
    for row in &orders {
        let order = ImageOrder {
            order_id: text(row, "order_id")?,
            user: text(row, "user")?,
            quantity: number(row, "quantity")?,
            state: OrderState::parse(&text(row, "state")?)?,
        };
        // An order of a SKU without stock row was rejected and has nothing to rebuild.
        if let Some(image) =
            images.get_mut(&row.try_get_unchecked::<String, _>("sku").map_err(wrap)?)
        {
            image.orders.push(order);
        }
    }
    Ok(images.into_values().collect())
}
