//! The tables: created and upgraded by the account that owns them, one node after the other.

use std::time::Duration;

use sqlx::MySqlPool;

use super::{StoreError, accounts};

/// How long a node waits for others that migrate.
const MIGRATION_WAIT: Duration = Duration::from_secs(30);
const TURN: &str = "flashsale migrations";

/// Creates or upgrades the tables, and gives the nodes' account its rights if it is not the owner's.
///
/// # Errors
/// MySQL does not answer, or the owner may not change the schema or hand on its rights.
pub(super) async fn bring_up(owner: &MySqlPool, node_url: Option<&str>) -> Result<(), StoreError> {
    let wrap = |source| StoreError::sql("take turns at migrating", source);
    let mut connection = owner.acquire().await.map_err(wrap)?;
    let wait_s = MIGRATION_WAIT.as_secs();
    let taken: Option<i64> = sqlx::query_scalar(&format!(
        "SELECT CAST(GET_LOCK('{TURN}', {wait_s}) AS SIGNED)"
    ))
    .fetch_one(&mut *connection)
    .await
    .map_err(wrap)?;
    if taken != Some(1) {
        return Err(StoreError::Stalled {
            action: "take turns at migrating",
            after_ms: MIGRATION_WAIT.as_millis() as u64,
        });
    }
    let done = migrate(owner, node_url).await;
    // The lock would go with the connection; this connection stays.
    sqlx::query(&format!("DO RELEASE_LOCK('{TURN}')"))
        .execute(&mut *connection)
        .await
        .map_err(wrap)?;
    done
}

async fn migrate(owner: &MySqlPool, node_url: Option<&str>) -> Result<(), StoreError> {
    let mut migrator = sqlx::migrate!("./migrations");
    // Its own lock waits for -1 s, which is for ever on MySQL and not at all on MariaDB.
    migrator.set_locking(false);
    migrator
        .run(owner)
        .await
        .map_err(|source| StoreError::Migrate { source })?;
    match node_url {
        Some(url) => accounts::grant(owner, url).await,
        None => Ok(()),
    }
}
