//! One transaction, bounded in time, and repeated while it fails for reasons that pass.

use std::future::Future;
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

/// What one transaction reads and writes.
///
/// A trait and not a closure: the futures of async closures that borrow are not `Send` for every lifetime.
pub(super) trait Work: Send {
    /// What the caller gets after the commit.
    type Outcome: Send;
    /// Completes "MySQL could not ...".
    const ACTION: &'static str;

    /// Must be idempotent: an error at COMMIT leaves the outcome unknown, and the next try has to find out by
    /// what it reads (consumption table, order row) that the first one has happened.
    fn run(
        &mut self,
        connection: &mut MySqlConnection,
    ) -> impl Future<Output = Result<Self::Outcome, StoreError>> + Send;
}

impl Store {
    /// Runs `work` in a transaction and commits it; tries again after deadlocks, lock waits, duplicate keys that
    /// appeared in between, and lost connections.
    pub(super) async fn transaction<W: Work>(&self, mut work: W) -> Result<W::Outcome, StoreError> {
        let mut pause = FIRST_PAUSE;
        for _ in 1..TRIES_MAX {
            match self.try_transaction(&mut work).await {
                Err(error) if error.is_transient() => {
                    tracing::debug!(%error, "transaction is tried again");
                    sleep(pause).await;
                    if !error.is_conflict() {
                        pause = (pause * 2).min(PAUSE_MAX);
                    }
                }
                outcome => return outcome,
            }
        }
        self.try_transaction(&mut work).await
    }

    async fn try_transaction<W: Work>(&self, work: &mut W) -> Result<W::Outcome, StoreError> {
        let wrap = |source| StoreError::sql(W::ACTION, source);
        let mut connection = self.pool.acquire().await.map_err(wrap)?;
        let outcome = timeout(TRANSACTION_TIMEOUT, async {
            let mut transaction = connection.begin().await.map_err(wrap)?;
            let value = work.run(&mut transaction).await?;
            transaction.commit().await.map_err(wrap)?;
            Ok(value)
        })
        .await;
        if let Ok(outcome) = outcome {
            return outcome;
        }
        // A statement was cut off half way: the connection's state is unknown, so nobody may use it again.
        connection.close_on_drop();
        Err(StoreError::Stalled {
            action: W::ACTION,
            after_ms: TRANSACTION_TIMEOUT.as_millis() as u64,
        })
    }
}
