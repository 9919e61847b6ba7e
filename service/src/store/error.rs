//! What can go wrong in the store, and which of it is worth trying again.

use sqlx::mysql::MySqlDatabaseError;

/// Deadlock victim: the server has rolled the whole transaction back.
const ER_LOCK_DEADLOCK: u16 = 1213;
/// Lock wait time-out: only the statement was rolled back, so the transaction must be.
const ER_LOCK_WAIT_TIMEOUT: u16 = 1205;
const ER_DUP_ENTRY: u16 = 1062;
/// Too many connections, too many of this user, too many prepared statements, server shutting down, killed, read-only
/// (1290, 1792, 1836).
const BUSY_OR_AWAY: [u16; 9] = [1040, 1203, 1461, 1053, 1317, 1927, 1290, 1792, 1836];

/// A call to the store that did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("MySQL URL is not valid ({source}); expected mysql://user:password@host:port/database")]
    Url { source: sqlx::Error },
    #[error("MySQL migration failed: {source}; check the user's rights on the schema")]
    Migrate { source: sqlx::migrate::MigrateError },
    #[error("MySQL could not {action}: {source}")]
    Sql {
        action: &'static str,
        source: sqlx::Error,
    },
    #[error("MySQL did not finish to {action} within {after_ms} ms; its outcome is not known")]
    Stalled { action: &'static str, after_ms: u64 },
    #[error(
        "stored {what} has the unknown value {value:?}; was the database written by another version?"
    )]
    UnknownValue { what: &'static str, value: String },
    #[error("sale {sale} does not exist; create it first")]
    NoSuchSale { sale: String },
    #[error("sale {sale} has no SKU {sku}; put the SKU first")]
    NoSuchSku { sale: String, sku: String },
    #[error("sale {sale} is open; top {sku} up, or close the sale before setting its stock")]
    SaleOpen { sale: String, sku: String },
    #[error("sale {sale} is not open; set the stock of {sku} instead of topping it up")]
    SaleNotOpen { sale: String, sku: String },
    #[error("top-up {id} has added {units} units of {sku} already; choose another id")]
    TopUpTaken { id: String, sku: String, units: i64 },
    #[error(
        "orders of sale {sale} go by {queue} since its first warm-up, which cannot become {asked}; name another sale"
    )]
    QueueFixed {
        sale: String,
        queue: String,
        asked: &'static str,
    },
    #[error("stock of {sku} in {sale} cannot become {asked}: {sold} units are sold")]
    BelowSold {
        sale: String,
        sku: String,
        asked: i64,
        sold: i64,
    },
    #[error(
        "the stock of this database is in {stored} tables, not in {asked}; start with --stock-shards {stored}"
    )]
    OtherShards { asked: u16, stored: u16 },
    #[error("stock of {sku} was changed by others {races} times in a row; it is tried again")]
    Outrun { sku: String, races: u32 },
    #[error("the replica is {lag_ms} ms behind")]
    Behind { lag_ms: u64 },
    #[error("batch of {size} messages is larger than {max}; split it")]
    BatchTooLarge { size: usize, max: usize },
    #[error("MySQL does not take {} of the batch's orders: {}", .0.len(), .0.iter().map(Unstorable::to_string).collect::<Vec<_>>().join("; "))]
    Unstorable(Vec<Unstorable>),
}

/// An order that MySQL refuses for what is in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{order_id}: {reason}")]
pub struct Unstorable {
    pub order_id: String,
    pub reason: String,
}

impl StoreError {
    pub(super) fn sql(action: &'static str, source: sqlx::Error) -> Self {
        Self::Sql { action, source }
    }

    /// Trying the same again can succeed (contention, lost connection, server away, unknown commit outcome).
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Sql { source, .. } => is_transient(source),
            Self::Stalled { .. } | Self::Outrun { .. } => true,
            _ => false,
        }
    }

    /// A lock conflict or a unique key taken in between: worth an immediate second try.
    pub(super) fn is_conflict(&self) -> bool {
        match self {
            Self::Sql { source, .. } => matches!(
                code(source),
                Some(ER_LOCK_DEADLOCK | ER_LOCK_WAIT_TIMEOUT | ER_DUP_ENTRY)
            ),
            Self::Outrun { .. } => true,
            _ => false,
        }
    }
}

/// The unique key of an inserted row is taken.
pub(super) fn is_duplicate(error: &sqlx::Error) -> bool {
    code(error) == Some(ER_DUP_ENTRY)
}

fn is_transient(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::WorkerCrashed => true,
        other => code(other).is_some_and(|code| {
            code == ER_LOCK_DEADLOCK
                || code == ER_LOCK_WAIT_TIMEOUT
                || code == ER_DUP_ENTRY
                || BUSY_OR_AWAY.contains(&code)
        }),
    }
}

fn code(error: &sqlx::Error) -> Option<u16> {
    error
        .as_database_error()
        .and_then(|error| error.try_downcast_ref::<MySqlDatabaseError>())
        .map(MySqlDatabaseError::number)
}
