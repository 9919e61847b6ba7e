//! Somebody changes the stock in MySQL by hand: total and what is left alike, so that its ledger still adds up and only who
//! knows what was put on sale can tell.

use sqlx::Row;
use sqlx::mysql::MySqlRow;

use crate::drill::range::Count;
use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, kind};
use crate::faults::site::Site;
use crate::faults::sql::Session;

kind! {
    /// Adds units to a SKU's stock in MySQL past the service, as somebody with a client would; not healed.
    pub struct MysqlStockTamper {
        /// Number of the SKU, from 1.
        pub sku: Count,
        /// Units added.
        pub units: Count,
    }
}

/// The stock's total before and after.
type Totals = Option<(i64, i64)>;

impl MysqlStockTamper {
    /// By the query that reads the stock at rest.
    async fn total(&self, session: &mut Session, site: Site<'_>) -> Result<i64, FaultError> {
        let sku = site.sku(self.sku.get())?;
        let query = site.fill("state.stock", &site.target.state.stock, &[])?;
        let rows = session.rows("reading the stock", &query).await?;
        // As the reading at rest does: how a view calls the types of its columns differs between servers.
        let id = |row: &MySqlRow| row.try_get_unchecked::<String, _>("sku");
        let row = rows.iter().find(|row| id(row).is_ok_and(|id| id == sku));
        let total = row.and_then(|row| row.try_get_unchecked("total").ok());
        total.ok_or_else(|| FaultError::missing(format!("the stock has no row of {sku}")))
    }
}

impl Kind for MysqlStockTamper {
    type State = Totals;
    const HEALS: bool = false;

    async fn applicable(&self, _: &mut Totals, site: Site<'_>) -> Result<String, FaultError> {
        let sku = site.sku(self.sku.get())?;
        if site.target.state.stock_add.is_empty() {
            return Err(FaultError::NoField {
                field: "state.stock_add",
            });
        }
        let units = self.units.get();
        Ok(format!("mysql: stock of SKU {sku} raised by {units}"))
    }

    async fn inject(&self, totals: &mut Totals, site: Site<'_>) -> Result<(), FaultError> {
        let extra = [
            ("sku", site.sku(self.sku.get())?.to_owned()),
            ("delta", self.units.get().to_string()),
        ];
        let add = site.fill("state.stock_add", &site.target.state.stock_add, &extra)?;
        let mut session = Session::open(&site.stack.mysql.url()).await?;
        let before = self.total(&mut session, site).await?;
        session.execute("changing the stock", &add).await?;
        *totals = Some((before, self.total(&mut session, site).await?));
        Ok(())
    }

    async fn receipt(&self, totals: &mut Totals, site: Site<'_>) -> Result<String, FaultError> {
        let sku = site.sku(self.sku.get())?;
        match *totals {
            Some((before, after)) if after == before + i64::from(self.units.get()) => Ok(format!(
                "stock of SKU {sku} in MySQL: total {before} -> {after}"
            )),
            _ => Err(FaultError::missing("the stock was not changed")),
        }
    }
}
