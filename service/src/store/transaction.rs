//! One transaction, bounded in time, and repeated while it fails for reasons that pass.

use std::time::Duration;

use sqlx::{Connection, MySqlConnection};
use tokio::time::{sleep, timeout};

use super::{Store, StoreError};

/// A transaction that takes longer is given up and its connection closed. Longer than one lock wait (5 s).
const TRANSACTION_TIMEOUT: Duration = Duration::from_secs(8);
/// Tries of one transaction. With the pauses below about 5 s pass before the caller hears of an outage.
const TRIES_MAX: u32 = 10;
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_secs(1);

impl Store {
    /// Runs `work` in a transaction and commits it; tries again after deadlocks, lock waits, duplicate keys that
    /// appeared in between, and lost connections.
    ///
    /// `work` must be idempotent: an error at COMMIT leaves the outcome unknown, and the next try must find out
    /// by what it reads (consumption table, order row) that the first one has happened.
    pub(super) async fn transaction<T, F>(
        &self,
        action: &'static str,
        mut work: F,
    ) -> Result<T, StoreError>
    where
        F: AsyncFnMut(&mut MySqlConnection) -> Result<T, StoreError>,
    {
        let mut pause = FIRST_PAUSE;
        for tries_left in (0..TRIES_MAX).rev() {
            match self.try_transaction(action, &mut work).await {
                Err(error) if error.is_transient() && tries_left > 0 => {
                    tracing::debug!(%error, tries_left, "transaction is tried again");
                    sleep(pause).await;
                    if !error.is_conflict() {
                        pause = (pause * 2).min(PAUSE_MAX);
                    }
                }
                outcome => return outcome,
            }
        }
        unreachable!("the last try returns")
    }

    async fn try_transaction<T, F>(
        &self,
        action: &'static str,
        work: &mut F,
    ) -> Result<T, StoreError>
    where
        F: AsyncFnMut(&mut MySqlConnection) -> Result<T, StoreError>,
    {
        let mut connection = self
            .pool
            .acquire()
            .await
            .map_err(|source| StoreError::sql(action, source))?;
        let outcome = timeout(TRANSACTION_TIMEOUT, async {
            let mut transaction = connection
                .begin()
                .await
                .map_err(|source| StoreError::sql(action, source))?;
            let value = work(&mut transaction).await?;
            transaction
                .commit()
                .await
                .map_err(|source| StoreError::sql(action, source))?;
            Ok(value)
        })
        .await;
        if let Ok(outcome) = outcome {
            return outcome;
        }
        // A statement was cut off half way: the connection's state is unknown, so nobody may use it again.
        connection.close_on_drop();
        Err(StoreError::Stalled {
            action,
            after_ms: TRANSACTION_TIMEOUT.as_millis() as u64,
        })
    }
}
