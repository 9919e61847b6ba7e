//! Sales and their stock as operators define them.

use sqlx::MySqlConnection;
use sqlx::mysql::MySqlRow;

use super::order::{number, text};
use super::stock::{SkuStock, StockTables};
use super::transaction::Work;
use super::{Store, StoreError};
use crate::queue::QueuePath;
use crate::sale::sku::Rules;

/// Whether a sale takes orders, as MySQL remembers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaleState {
    /// Defined, not opened yet.
    Prepared,
    Open,
    Closed,
}

impl SaleState {
    /// The name in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prepared => "prepared",
            Self::Open => "open",
            Self::Closed => "closed",
        }
    }

    pub(super) fn parse(name: &str) -> Result<Self, StoreError> {
        match name {
            "prepared" => Ok(Self::Prepared),
            "open" => Ok(Self::Open),
            "closed" => Ok(Self::Closed),
            other => Err(StoreError::UnknownValue {
                what: "sale state",
                value: other.to_owned(),
            }),
        }
    }
}

/// One sale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaleRow {
    pub sale: String,
    pub rules: Rules,
    pub state: SaleState,
}

impl Store {
    /// Creates a sale (state prepared) or changes its rules (state kept). The queue stays what it is from the first
    /// warm-up on: orders may be on their way.
    pub async fn put_sale(&self, sale: &str, rules: Rules) -> Result<(), StoreError> {
        self.transaction(PutSale { sale, rules }).await
    }

    /// Sets the units of a SKU that this sale has in total; what is sold stays sold. Refused while the sale is
    /// open (DB-9) and below what is sold.
    pub async fn put_sku(&self, sale: &str, sku: &str, stock: i64) -> Result<(), StoreError> {
        self.transaction(PutSku {
            tables: self.tables,
            sale,
            sku,
            stock,
        })
        .await
    }

    /// Opens or closes a sale in MySQL's memory.
    pub async fn set_sale_state(&self, sale: &str, state: SaleState) -> Result<(), StoreError> {
        let changed = sqlx::query("UPDATE sales SET state = ? WHERE sale = ?")
            .bind(state.as_str())
            .bind(sale)
            .execute(&self.pool)
            .await
            .map_err(|source| StoreError::sql("set sale state", source))?;
        if changed.rows_affected() == 0 {
            return Err(StoreError::NoSuchSale {
                sale: sale.to_owned(),
            });
        }
        Ok(())
    }

    /// One sale, if it exists.
    pub async fn sale(&self, sale: &str) -> Result<Option<SaleRow>, StoreError> {
        Ok(self.sales().await?.into_iter().find(|row| row.sale == sale))
    }

    /// All sales, by name.
    pub async fn sales(&self) -> Result<Vec<SaleRow>, StoreError> {
        let rows = sqlx::query(
            "SELECT sale, limit_per_user, starts_at_ms, ends_at_ms, queue, state FROM sales ORDER BY sale",
        )
        .fetch_all(&self.pool)
        .await
        .map_err(|source| StoreError::sql("read sales", source))?;
        rows.iter()
            .map(|row| {
                Ok(SaleRow {
                    sale: text(row, "sale")?,
                    rules: rules(row)?,
                    state: SaleState::parse(&text(row, "state")?)?,
                })
            })
            .collect()
    }
}

/// The columns of a sale that are its rules.
pub(super) fn rules(row: &MySqlRow) -> Result<Rules, StoreError> {
    let queue = text(row, "queue")?;
    Ok(Rules {
        limit_per_user: number(row, "limit_per_user")?,
        starts_at_ms: number(row, "starts_at_ms")?,
        ends_at_ms: number(row, "ends_at_ms")?,
        queue: QueuePath::parse(&queue).ok_or(StoreError::UnknownValue {
            what: "queue of a sale",
            value: queue,
        })?,
    })
}

/// The write behind [`Store::put_sale`].
struct PutSale<'a> {
    sale: &'a str,
    rules: Rules,
}

impl Work for PutSale<'_> {
    type Outcome = ();
    const ACTION: &'static str = "write sale";

    async fn run(&mut self, connection: &mut MySqlConnection) -> Result<(), StoreError> {
        self.refuse_other_queue(connection).await?;
        let Rules {
            limit_per_user,
            starts_at_ms,
            ends_at_ms,
            queue,
        } = self.rules;
        sqlx::query(
            "INSERT INTO sales (sale, limit_per_user, starts_at_ms, ends_at_ms, queue, state) \
             VALUES (?, ?, ?, ?, ?, 'prepared') \
             ON DUPLICATE KEY UPDATE limit_per_user = VALUES(limit_per_user), queue = VALUES(queue), \
             starts_at_ms = VALUES(starts_at_ms), ends_at_ms = VALUES(ends_at_ms)",
        )
        .bind(self.sale)
        .bind(limit_per_user)
        .bind(starts_at_ms)
        .bind(ends_at_ms)
        .bind(queue.as_str())
        .execute(connection)
        .await
        .map(|_| ())
        .map_err(|source| StoreError::sql(Self::ACTION, source))
    }
}

impl PutSale<'_> {
    async fn refuse_other_queue(&self, connection: &mut MySqlConnection) -> Result<(), StoreError> {
        let warm = sqlx::query(
            "SELECT queue FROM sales s WHERE sale = ? AND EXISTS (SELECT 1 FROM gates g WHERE g.sale = s.sale)",
        );
        let queue = warm
            .bind(self.sale)
            .fetch_optional(connection)
            .await
            .map_err(|source| StoreError::sql(Self::ACTION, source))?;
        let queue = queue.map(|row| text(&row, "queue")).transpose()?;
        let asked = self.rules.queue.as_str();
        match queue {
            Some(queue) if queue != asked => Err(StoreError::QueueFixed {
                sale: self.sale.to_owned(),
                queue,
                asked,
            }),
            _ => Ok(()),
        }
    }
}

/// The write behind [`Store::put_sku`].
struct PutSku<'a> {
    tables: StockTables,
    sale: &'a str,
    sku: &'a str,
    stock: i64,
}

impl Work for PutSku<'_> {
    type Outcome = ();
    const ACTION: &'static str = "write stock";

    async fn run(&mut self, connection: &mut MySqlConnection) -> Result<(), StoreError> {
        // Locked, so that the sale cannot open before the stock is written.
        if locked_state(connection, self.sale).await? == SaleState::Open {
            return Err(StoreError::SaleOpen {
                sale: self.sale.to_owned(),
                sku: self.sku.to_owned(),
            });
        }
        let mut stock = SkuStock {
            connection,
            tables: self.tables,
            sale: self.sale,
            sku: self.sku,
        };
        let sold = stock.sold().await?;
        if self.stock < sold.max(0) {
            return Err(StoreError::BelowSold {
                sale: self.sale.to_owned(),
                sku: self.sku.to_owned(),
                asked: self.stock,
                sold,
            });
        }
        stock.put(self.stock, self.stock - sold).await
    }
}

/// The sale's state, which cannot change before the transaction ends.
pub(super) async fn locked_state(
    connection: &mut MySqlConnection,
    sale: &str,
) -> Result<SaleState, StoreError> {
    let row = sqlx::query("SELECT state FROM sales WHERE sale = ? FOR UPDATE")
        .bind(sale)
        .fetch_optional(connection)
        .await
        .map_err(|source| StoreError::sql("lock a sale", source))?
        .ok_or_else(|| StoreError::NoSuchSale {
            sale: sale.to_owned(),
        })?;
    SaleState::parse(&text(&row, "state")?)
}
