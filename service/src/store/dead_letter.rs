//! Dead letters: messages that were tried often enough, kept for somebody to decide about.

use super::{Store, StoreError};

impl Store {
    /// How many there are.
    pub async fn dead_letters_count(&self) -> Result<i64, StoreError> {
        sqlx::query_scalar("SELECT COUNT(*) FROM dead_letters")
            .fetch_one(&self.pool)
            .await
            .map_err(|source| StoreError::sql("count dead letters", source))
    }
}
