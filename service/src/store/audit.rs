//! The audit log (RC-5): who did what to which sale, with the values around it.

use sqlx::MySqlExecutor;

use super::{Store, StoreError, now_ms};

/// One line of it.
#[derive(Debug, Clone, Copy)]
pub struct AuditLine<'a> {
    pub who: &'a str,
    pub what: &'a str,
    pub sale: &'a str,
    pub before: &'a str,
    pub after: &'a str,
}

impl AuditLine<'_> {
    /// Writes it, on a connection that may be in a transaction.
    pub(super) async fn write(self, executor: impl MySqlExecutor<'_>) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO audit (at_ms, who, what, sale, before_value, after_value) VALUES (?, ?, ?, ?, ?, ?)",
        )
        .bind(now_ms())
        .bind(self.who)
        .bind(self.what)
        .bind(self.sale)
        .bind(self.before)
        .bind(self.after)
        .execute(executor)
        .await
        .map(drop)
        .map_err(|source| StoreError::sql("write audit line", source))
    }
}

impl Store {
    /// Writes one line.
    ///
    /// # Errors
    /// MySQL does not answer.
    pub async fn audit(&self, line: AuditLine<'_>) -> Result<(), StoreError> {
        line.write(&self.pool).await
    }
}
