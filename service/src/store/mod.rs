//! MySQL, the only source of truth: sales, stock, orders, the consumption table and pending releases.
//!
//! Owns every SQL statement. Invariant of each SKU: available + units of live orders = total, in every
//! snapshot, because each transaction here changes both sides or none.

mod accounts;
mod apply;
mod audit;
mod batch_rows;
mod dead_letter;
mod error;
mod gate;
mod image;
mod node;
mod order;
mod outbox;
mod release;
mod replica;
mod sale;
mod schema;
mod shard;
mod stock;
mod tombstone;
mod top_up;
mod transaction;
mod transition;

use std::time::Duration;

use sqlx::mysql::{MySqlConnectOptions, MySqlPoolOptions};
use sqlx::{Executor, MySqlPool};

use self::replica::Replica;
use crate::sale::clock::now_ms;

pub use apply::{Applied, AppliedOutcome, BATCH_MAX, Delivery, Entry, Step};
pub use audit::AuditLine;
pub use dead_letter::{DeadLetter, Letter, LetterKind};
pub use error::{StoreError, Unstorable};
pub use gate::{GateRow, Gates};
pub use image::{ImageOrder, SkuImage};
pub use node::NODE_TTL;
pub use order::{OrderRow, OrderState, check_storable};
pub use outbox::{Announcement, Claim, TRIES_MAX};
pub use release::ReleaseRow;
pub use replica::ReadFrom;
pub use sale::{SaleRow, SaleState};
pub use shard::{SHARDS_MAX, Shards};
pub use stock::{DECREMENT_STOCK, StockStrategy, StockTables, WRITE_VERSION};
pub use tombstone::reason;
pub use top_up::TopUp;
pub use transition::{PAY, Transition};

/// Connections kept open at most: batches in parallel by SKU, buyers paying and cancelling, rebuilds.
const CONNECTIONS_MAX: u32 = 24;
/// And for what the nodes tell each other. In a rush everybody else waits for a connection, for seconds on a busy machine;
/// a gate that should close must not, nor a beat without which a node counts as dead.
const CONTROL_CONNECTIONS_MAX: u32 = 4;
/// A caller without a connection after this long is told that MySQL is unavailable.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(2);
/// Batch statements differ by their number of rows; each size is one prepared statement of the connection. Four nodes
/// with 24 connections of this many each, and some more to control, stay below the server's default of 16,382
/// (`max_prepared_stmt_count`).
const STATEMENTS_CACHED: usize = 150;

/// Settings of every connection. READ COMMITTED: fewer gap locks, hence fewer deadlocks between batches
/// (snapshots ask for their own isolation). Lock waits give up after 5 s instead of 50 and are tried again.
const SESSION: [&str; 2] = [
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "SET SESSION innodb_lock_wait_timeout = 5",
];

/// The statements that decide, for those who want to see them worded otherwise.
#[cfg(feature = "mutants")]
pub const STATEMENTS: [&str; 3] = [DECREMENT_STOCK, WRITE_VERSION, PAY];

/// Handle on the database; clones share the connections.
#[derive(Debug, Clone)]
pub struct Store {
    pool: MySqlPool,
    /// Gates, beats and the lease.
    control: MySqlPool,
    tables: StockTables,
    replica: Option<Replica>,
}

impl Store {
    /// Connects to `mysql://user:password@host:port/database`, creates or upgrades the tables, and agrees with the other
    /// nodes on where the stock is. With `owner_url` the tables belong to that account, and this one gets what a node needs.
    ///
    /// # Errors
    /// MySQL does not answer, the owner may not change the schema, or the stock is in another number of tables.
    pub async fn open(
        url: &str,
        owner_url: Option<&str>,
        tables: StockTables,
    ) -> Result<Self, StoreError> {
        let pool = match owner_url {
            Some(owner_url) => {
                let owner = connect(owner_url).await?;
                schema::bring_up(&owner, Some(url)).await?;
                owner.close().await;
                connect(url).await?
            }
            None => {
                let pool = connect(url).await?;
                schema::bring_up(&pool, None).await?;
                pool
            }
        };
        tables.shards.agree(&pool).await?;
        let control = options().max_connections(CONTROL_CONNECTIONS_MAX);
        Ok(Self {
            control: control.connect_lazy_with(parse(url)?),
            pool,
            tables,
            replica: None,
        })
    }

    /// One round trip: is the database answering?
    pub async fn ping(&self) -> Result<(), StoreError> {
        sqlx::query("SELECT 1")
            .execute(&self.pool)
            .await
            .map(|_| ())
            .map_err(|source| StoreError::sql("ping", source))
    }

    /// Closes the connections after running statements have ended.
    pub async fn close(&self) {
        self.pool.close().await;
        self.control.close().await;
        if let Some(replica) = &self.replica {
            replica.pool.close().await;
        }
    }
}

/// At least one connection must succeed.
async fn connect(url: &str) -> Result<MySqlPool, StoreError> {
    options()
        .max_connections(CONNECTIONS_MAX)
        .min_connections(2)
        .connect_with(parse(url)?)
        .await
        .map_err(|source| StoreError::sql("connect", source))
}

fn parse(url: &str) -> Result<MySqlConnectOptions, StoreError> {
    let options: MySqlConnectOptions = url.parse().map_err(|source| StoreError::Url { source })?;
    Ok(options.statement_cache_capacity(STATEMENTS_CACHED))
}

fn options() -> MySqlPoolOptions {
    MySqlPoolOptions::new()
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .after_connect(|connection, _| {
            Box::pin(async move {
                for setting in SESSION {
                    connection.execute(setting).await?;
                }
                Ok(())
            })
        })
}
