//! The nodes of the service, and which of them leads as keeper. All by MySQL's clock.

use std::time::Duration;

use super::{Store, StoreError};

/// The time of day, as an SQL expression.
pub(super) const NOW_MS: &str = "CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS UNSIGNED)";

/// A node that has not been heard of for this long is gone, and a lease that was not renewed has ended.
pub const NODE_TTL: Duration = Duration::from_secs(3);

impl Store {
    /// MySQL's time of day, Unix ms.
    pub async fn now_ms(&self) -> Result<u64, StoreError> {
        sqlx::query_scalar(&format!("SELECT {NOW_MS}"))
            .fetch_one(&self.control)
            .await
            .map_err(|source| StoreError::sql("tell the time", source))
    }

    /// The node lives, and has drawn the consequences of the reading of the gates that began at `read_at_ms`.
    pub async fn beat(
        &self,
        node: &str,
        is_gateway: bool,
        read_at_ms: u64,
    ) -> Result<(), StoreError> {
        let ttl_ms = NODE_TTL.as_millis();
        let sql = format!(
            "INSERT INTO nodes (node, is_gateway, read_at_ms, expires_at_ms) \
             VALUES (?, ?, ?, {NOW_MS} + {ttl_ms}) ON DUPLICATE KEY UPDATE \
             read_at_ms = VALUES(read_at_ms), expires_at_ms = VALUES(expires_at_ms)"
        );
        let beat = sqlx::query(&sql).bind(node).bind(is_gateway);
        let done = beat.bind(read_at_ms).execute(&self.control).await;
        done.map(|_| ())
            .map_err(|source| StoreError::sql("note a node's beat", source))
    }

    /// Live gateways that may not know yet what was written before `at_ms`.
    pub async fn gateways_behind(&self, at_ms: u64) -> Result<i64, StoreError> {
        let sql = format!(
            "SELECT COUNT(*) FROM nodes WHERE is_gateway = 1 AND expires_at_ms > {NOW_MS} AND read_at_ms <= ?"
        );
        sqlx::query_scalar(&sql)
            .bind(at_ms)
            .fetch_one(&self.control)
            .await
            .map_err(|source| StoreError::sql("look for slow nodes", source))
    }

    /// Strikes off nodes whose time has run out. Only for a keeper that has been in touch with MySQL for longer
    /// than [`NODE_TTL`]: after an outage of MySQL's everybody's time has run out.
    pub async fn forget_dead_nodes(&self) -> Result<u64, StoreError> {
        let sql = format!("DELETE FROM nodes WHERE expires_at_ms < {NOW_MS}");
        self.affected("forget dead nodes", sqlx::query(&sql)).await
    }

    /// Takes or renews the keeper's lease; false while another node has it.
    pub async fn lead(&self, node: &str) -> Result<bool, StoreError> {
        let ttl_ms = NODE_TTL.as_millis();
        let sql = format!(
            "UPDATE keeper_lease SET node = ?, expires_at_ms = {NOW_MS} + {ttl_ms} \
             WHERE id = 1 AND (node = ? OR expires_at_ms < {NOW_MS})"
        );
        let led = sqlx::query(&sql).bind(node).bind(node);
        Ok(self.affected("renew the keeper's lease", led).await? == 1)
    }

    /// Whether the node has the keeper's lease.
    pub async fn leads(&self, node: &str) -> Result<bool, StoreError> {
        let sql = format!(
            "SELECT EXISTS (SELECT 1 FROM keeper_lease WHERE node = ? AND expires_at_ms > {NOW_MS})"
        );
        sqlx::query_scalar(&sql)
            .bind(node)
            .fetch_one(&self.control)
            .await
            .map_err(|source| StoreError::sql("look who leads", source))
    }

    /// Gives the keeper's lease to whoever comes, if the node has it.
    pub async fn resign(&self, node: &str) -> Result<(), StoreError> {
        let resigned = sqlx::query("UPDATE keeper_lease SET expires_at_ms = 0 WHERE node = ?");
        self.affected("resign as keeper", resigned.bind(node))
            .await
            .map(drop)
    }

    /// The node ends in good order: nobody waits for it.
    pub async fn leave(&self, node: &str) -> Result<(), StoreError> {
        self.resign(node).await?;
        let left = sqlx::query("DELETE FROM nodes WHERE node = ?");
        self.affected("strike a node off", left.bind(node))
            .await
            .map(drop)
    }

    /// Rows that a statement of control found.
    pub(super) async fn affected(
        &self,
        action: &'static str,
        query: sqlx::query::Query<'_, sqlx::MySql, sqlx::mysql::MySqlArguments>,
    ) -> Result<u64, StoreError> {
        let done = query.execute(&self.control).await;
        done.map(|done| done.rows_affected())
            .map_err(|source| StoreError::sql(action, source))
    }
}
