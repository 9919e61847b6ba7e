//! Units that come while the sale is open: in MySQL's stock, and through the keeper in Redis's (DB-9).

use sqlx::MySqlConnection;
use sqlx::mysql::MySqlRow;

use super::audit::AuditLine;
use super::gate::doubt_sku;
use super::order::{number, text};
use super::sale::{SaleState, locked_state};
use super::stock::{SkuStock, StockTables};
use super::transaction::Work;
use super::{Store, StoreError};
use crate::parts::parts;

/// What is to be added, and who is answerable for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopUp {
    /// Chosen by who asks: under one id units are added once.
    pub id: String,
    pub sale: String,
    pub sku: String,
    pub units: u32,
    pub asked_by: String,
    pub approved_by: String,
}

impl Store {
    /// Adds the units and closes the SKU's gate, in one transaction: the keeper rebuilds Redis from the new stock before it
    /// opens it again, and an attempt that has read the old one does not count any more. Whatever dies in between, the units
    /// are in both stores or in none. Under an id that was carried out nothing changes.
    ///
    /// # Errors
    /// The sale is not open, it has no such SKU, or something else was added under this id.
    pub async fn top_up(&self, top_up: &TopUp) -> Result<(), StoreError> {
        let tables = self.tables;
        self.transaction(AddUnits { tables, top_up }).await
    }
}

struct AddUnits<'a> {
    tables: StockTables,
    top_up: &'a TopUp,
}

impl Work for AddUnits<'_> {
    type Outcome = ();
    const ACTION: &'static str = "add stock";

    async fn run(&mut self, connection: &mut MySqlConnection) -> Result<(), StoreError> {
        let TopUp { sale, sku, .. } = self.top_up;
        // Locked, so that the sale cannot be closed before this is done.
        if locked_state(connection, sale).await? != SaleState::Open {
            return Err(StoreError::SaleNotOpen {
                sale: sale.clone(),
                sku: sku.clone(),
            });
        }
        if self.is_done(connection).await? {
            return Ok(());
        }
        self.claim(connection).await?;
        self.add(connection).await?;
        if parts().brings_top_ups() {
            doubt_sku(connection, sale, sku).await?;
        }
        Ok(())
    }
}

impl AddUnits<'_> {
    async fn is_done(&self, connection: &mut MySqlConnection) -> Result<bool, StoreError> {
        let TopUp { id, .. } = self.top_up;
        let row = sqlx::query("SELECT sale, sku, units FROM top_ups WHERE id = ?")
            .bind(id)
            .fetch_optional(connection)
            .await
            .map_err(|source| StoreError::sql(Self::ACTION, source))?;
        match row {
            None => Ok(false),
            Some(row) if self.is_same(&row)? => Ok(true),
            Some(row) => Err(StoreError::TopUpTaken {
                id: id.clone(),
                sku: text(&row, "sku")?,
                units: number(&row, "units")?,
            }),
        }
    }

    fn is_same(&self, row: &MySqlRow) -> Result<bool, StoreError> {
        let TopUp {
            sale, sku, units, ..
        } = self.top_up;
        Ok(text(row, "sale")? == *sale
            && text(row, "sku")? == *sku
            && number::<i64>(row, "units")? == i64::from(*units))
    }

    async fn claim(&self, connection: &mut MySqlConnection) -> Result<(), StoreError> {
        let TopUp {
            id,
            sale,
            sku,
            units,
            ..
        } = self.top_up;
        sqlx::query("INSERT INTO top_ups (id, sale, sku, units) VALUES (?, ?, ?, ?)")
            .bind(id)
            .bind(sale)
            .bind(sku)
            .bind(units)
            .execute(connection)
            .await
            .map(drop)
            .map_err(|source| StoreError::sql(Self::ACTION, source))
    }

    async fn add(&self, connection: &mut MySqlConnection) -> Result<(), StoreError> {
        let TopUp {
            id,
            sale,
            sku,
            units,
            asked_by,
            approved_by,
        } = self.top_up;
        let mut stock = SkuStock {
            connection: &mut *connection,
            tables: self.tables,
            sale,
            sku,
        };
        let Some(total) = stock.add(i64::from(*units)).await? else {
            return Err(StoreError::NoSuchSku {
                sale: sale.clone(),
                sku: sku.clone(),
            });
        };
        let line = AuditLine {
            who: asked_by,
            what: "top up",
            sale,
            before: &format!("{sku}: {}", total - i64::from(*units)),
            after: &format!("{sku}: {total}, approved by {approved_by}, id {id}"),
        };
        line.write(connection).await
    }
}
