//! The replica: it takes reads off the primary that may be a few seconds old (DB-7).
//!
//! Whatever decides what may be sold is read from the primary. Here belongs only what cannot become wrong by being old:
//! that an order exists stays true, since none is ever deleted; one that is missing may be on its way.
//!
//! How far it is behind is seen in what it shows: ten times a second each node notes when it read its gates last, by the
//! primary's clock. A replica that has stopped, or whose replication says nothing true of itself, shows an old time.

use std::collections::HashSet;
use std::time::Duration;

use sqlx::MySqlPool;
use sqlx::mysql::{MySqlConnectOptions, MySqlPoolOptions};
use tokio::time::timeout;

use super::order::{EXISTING, those_in};
use super::{Store, StoreError};

/// One that is as far behind is not asked.
const LAG_MAX: Duration = Duration::from_secs(5);
/// Connections at most: nobody waits for these reads.
const CONNECTIONS_MAX: u32 = 4;
/// After that the primary is asked instead.
const PATIENCE: Duration = Duration::from_secs(1);

/// Which server has answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadFrom {
    Primary,
    Replica,
}

/// Handle; clones share the connections.
#[derive(Debug, Clone)]
pub(super) struct Replica {
    pub pool: MySqlPool,
}

impl Replica {
    /// Dials when it is asked first.
    pub fn new(url: &str) -> Result<Self, StoreError> {
        let options: MySqlConnectOptions =
            url.parse().map_err(|source| StoreError::Url { source })?;
        let pool = MySqlPoolOptions::new()
            .max_connections(CONNECTIONS_MAX)
            .acquire_timeout(PATIENCE)
            .connect_lazy_with(options);
        Ok(Self { pool })
    }

    /// Which of these orders it has, unless it was too far behind at `now_ms` of the primary's clock.
    async fn existing(
        &self,
        order_ids: &[String],
        now_ms: u64,
    ) -> Result<HashSet<String>, StoreError> {
        let action = "read from the replica";
        let wrap = |source| StoreError::sql(action, source);
        let mut connection = self.pool.acquire().await.map_err(wrap)?;
        let read = timeout(PATIENCE, async {
            // What is read after this is not older.
            let shown_ms: Option<u64> = sqlx::query_scalar("SELECT MAX(read_at_ms) FROM nodes")
                .fetch_one(&mut *connection)
                .await
                .map_err(wrap)?;
            let lag_ms = now_ms.saturating_sub(shown_ms.unwrap_or(0));
            if u128::from(lag_ms) >= LAG_MAX.as_millis() {
                return Err(StoreError::Behind { lag_ms });
            }
            those_in(&mut connection, EXISTING, order_ids).await
        });
        if let Ok(read) = read.await {
            return read;
        }
        // An answer may still come.
        connection.close_on_drop();
        Err(StoreError::Stalled {
            action,
            after_ms: PATIENCE.as_millis() as u64,
        })
    }
}

impl Store {
    /// From now on takes what may be a few seconds old from the replica at this URL.
    ///
    /// # Errors
    /// The URL is none. Whether anybody answers there is not asked.
    pub fn with_replica(self, url: &str) -> Result<Self, StoreError> {
        Ok(Self {
            replica: Some(Replica::new(url)?),
            ..self
        })
    }

    /// Which of these order ids have a row, whatever its state; of those stored within the last seconds some may be
    /// missing. Says who was asked: the primary where the replica is too far behind, or does not answer.
    pub async fn existing_for_some_time(
        &self,
        order_ids: &[String],
    ) -> Result<(HashSet<String>, ReadFrom), StoreError> {
        if let Some(replica) = &self.replica {
            let now_ms = self.now_ms().await?;
            match replica.existing(order_ids, now_ms).await {
                Ok(existing) => return Ok((existing, ReadFrom::Replica)),
                Err(error) => tracing::debug!(%error, "the primary is asked instead"),
            }
        }
        Ok((self.existing(order_ids).await?, ReadFrom::Primary))
    }
}
