//! Units in MySQL's stock, taken and given back inside somebody's transaction: the last guard against overselling.

use clap::ValueEnum;
use sqlx::MySqlConnection;

use super::order::number;
use super::{Shards, StoreError};
use crate::parts::parts;

/// Takes the units only if they are there, in one statement (DB-1).
pub const DECREMENT_STOCK: &str = "UPDATE {stock} SET available = available - ?, version = version + 1 \
     WHERE sale = ? AND sku = ? AND available >= ?";
/// Writes what was read less the units, only if nobody else has written since.
pub const WRITE_VERSION: &str = "UPDATE {stock} SET available = ?, version = version + 1 \
     WHERE sale = ? AND sku = ? AND version = ?";
const READ: &str = "SELECT available, version FROM {stock} WHERE sale = ? AND sku = ?";
const READ_LOCKED: &str =
    "SELECT available, version FROM {stock} WHERE sale = ? AND sku = ? FOR UPDATE";
const GIVE_BACK: &str = "UPDATE {stock} SET available = available + ?, version = version + 1 \
     WHERE sale = ? AND sku = ?";
const SOLD_LOCKED: &str =
    "SELECT total - available FROM {stock} WHERE sale = ? AND sku = ? FOR UPDATE";
const ADD: &str = "UPDATE {stock} SET total = total + ?, available = available + ?, version = version + 1 \
     WHERE sale = ? AND sku = ?";
const TOTAL: &str = "SELECT total FROM {stock} WHERE sale = ? AND sku = ?";
const PUT: &str = "INSERT INTO {stock} (sale, sku, total, available) VALUES (?, ?, ?, ?) \
     ON DUPLICATE KEY UPDATE total = VALUES(total), available = VALUES(available), \
     version = version + 1";
/// A write that others come before so often in a row begins its transaction anew.
const RACES_MAX: u32 = 20;

/// How the stock is kept from being sold twice (DB-3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum StockStrategy {
    /// One UPDATE on the condition that enough is there.
    #[default]
    Conditional,
    /// Read, then write on the condition that the row's version is still the one that was read.
    Version,
    /// Lock the row, read, write: for an emergency, it lets one transaction at a time through.
    Locking,
}

/// Where the stock is, and how it is taken.
#[derive(Debug, Clone, Copy)]
pub struct StockTables {
    pub shards: Shards,
    pub strategy: StockStrategy,
}

/// What a row says.
struct Row {
    available: i64,
    version: u64,
}

/// The stock of one SKU within a transaction.
pub(super) struct SkuStock<'a> {
    pub connection: &'a mut MySqlConnection,
    pub tables: StockTables,
    pub sale: &'a str,
    pub sku: &'a str,
}

impl SkuStock<'_> {
    /// True if that many units were there and are taken.
    pub async fn take(&mut self, units: i64) -> Result<bool, StoreError> {
        match self.tables.strategy {
            StockStrategy::Conditional => self.decrement(units).await,
            StockStrategy::Version => self.race(units).await,
            StockStrategy::Locking => {
                let row = self.read(READ_LOCKED).await?;
                let is_enough = row.is_some_and(|row| row.available >= units);
                Ok(is_enough && self.decrement(units).await?)
            }
        }
    }

    /// Gives units back.
    pub async fn give_back(&mut self, units: i64) -> Result<(), StoreError> {
        let table = parts().returned_to(self.tables.shards, self.sale, self.sku);
        sqlx::query(&GIVE_BACK.replace("{stock}", &table))
            .bind(units)
            .bind(self.sale)
            .bind(self.sku)
            .execute(&mut *self.connection)
            .await
            .map(drop)
            .map_err(|source| StoreError::sql("give stock back", source))
    }

    /// Units that are sold; locks the row, so that no more are until the commit.
    pub async fn sold(&mut self) -> Result<i64, StoreError> {
        sqlx::query_scalar(&self.statement(SOLD_LOCKED))
            .bind(self.sale)
            .bind(self.sku)
            .fetch_optional(&mut *self.connection)
            .await
            .map(|sold| sold.unwrap_or(0))
            .map_err(|source| StoreError::sql("write stock", source))
    }

    /// Makes the row, or writes another number of units.
    pub async fn put(&mut self, total: i64, available: i64) -> Result<(), StoreError> {
        sqlx::query(&self.statement(PUT))
            .bind(self.sale)
            .bind(self.sku)
            .bind(total)
            .bind(available)
            .execute(&mut *self.connection)
            .await
            .map(drop)
            .map_err(|source| StoreError::sql("write stock", source))
    }

    /// Adds units that were not there before; the new total, or None if there is no such row.
    pub async fn add(&mut self, units: i64) -> Result<Option<i64>, StoreError> {
        let wrap = |source| StoreError::sql("add stock", source);
        sqlx::query(&self.statement(ADD))
            .bind(units)
            .bind(units)
            .bind(self.sale)
            .bind(self.sku)
            .execute(&mut *self.connection)
            .await
            .map_err(wrap)?;
        sqlx::query_scalar(&self.statement(TOTAL))
            .bind(self.sale)
            .bind(self.sku)
            .fetch_optional(&mut *self.connection)
            .await
            .map_err(wrap)
    }

    async fn decrement(&mut self, units: i64) -> Result<bool, StoreError> {
        let done = sqlx::query(&self.statement(DECREMENT_STOCK))
            .bind(units)
            .bind(self.sale)
            .bind(self.sku)
            .bind(units)
            .execute(&mut *self.connection)
            .await;
        let rows = parts().decremented(done.map(|done| done.rows_affected()));
        rows.map(|rows| rows == 1)
            .map_err(|source| StoreError::sql("decrement stock", source))
    }

    async fn race(&mut self, units: i64) -> Result<bool, StoreError> {
        for _ in 0..RACES_MAX {
            let row = self.read(READ).await?;
            let Some(row) = row.filter(|row| row.available >= units) else {
                return Ok(false);
            };
            if self.write(row.available - units, row.version).await? {
                return Ok(true);
            }
        }
        Err(StoreError::Outrun {
            sku: self.sku.to_owned(),
            races: RACES_MAX,
        })
    }

    /// False if somebody else has written since.
    async fn write(&mut self, available: i64, version: u64) -> Result<bool, StoreError> {
        sqlx::query(&self.statement(WRITE_VERSION))
            .bind(available)
            .bind(self.sale)
            .bind(self.sku)
            .bind(version)
            .execute(&mut *self.connection)
            .await
            .map(|done| done.rows_affected() == 1)
            .map_err(|source| StoreError::sql("write stock", source))
    }

    async fn read(&mut self, text: &'static str) -> Result<Option<Row>, StoreError> {
        let row = sqlx::query(&self.statement(text))
            .bind(self.sale)
            .bind(self.sku)
            .fetch_optional(&mut *self.connection)
            .await
            .map_err(|source| StoreError::sql("read stock", source))?;
        row.map(|row| {
            Ok(Row {
                available: number(&row, "available")?,
                version: number(&row, "version")?,
            })
        })
        .transpose()
    }

    fn statement(&self, text: &'static str) -> String {
        let table = self.tables.shards.table(self.sale, self.sku);
        parts().statement(text).replace("{stock}", &table)
    }
}
