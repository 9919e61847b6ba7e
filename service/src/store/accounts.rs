//! Who may do what in the database: one account owns the tables, the nodes' account may do what selling takes and nothing
//! else. So nobody who has a node's password drops a table, deletes an order, or changes what the audit says (DB-9).

use sqlx::mysql::{MySqlConnectOptions, MySqlConnection};
use sqlx::{Connection, Executor, MySqlPool};

use super::shard::SHARDS_MAX;
use super::{ACQUIRE_TIMEOUT, StoreError};

/// Rights on tables besides reading them.
const RIGHTS: [(&str, &[&str]); 4] = [
    // What has happened is added to, and never changed.
    ("INSERT", &["audit", "consumed", "stock_layout", "top_ups"]),
    (
        "INSERT, UPDATE",
        &["gates", "keeper_lease", "orders", "releases", "sales"],
    ),
    (
        "INSERT, UPDATE, DELETE",
        &["dead_letters", "nodes", "outbox", "quiet_nodes"],
    ),
    ("", &["stock", "_sqlx_migrations"]),
];
/// On each of the stock's tables: a SKU that was on sale once is never gone.
const STOCK_RIGHTS: &str = "INSERT, UPDATE";

/// Gives the account of `url` what a node needs; what it has already stays.
///
/// # Errors
/// MySQL does not answer, or the owner may not give these rights.
pub(super) async fn grant(owner: &MySqlPool, url: &str) -> Result<(), StoreError> {
    let wrap = |source| StoreError::sql("give the nodes' account its rights", source);
    let (account, tables) = account(url).await?;
    let wanted = wanted();
    if usize::try_from(tables).is_ok_and(|tables| tables >= wanted.len()) {
        return Ok(()); // Each grant is a write, and every node comes by here.
    }
    for (rights, table) in wanted {
        let sql = match rights {
            "" => format!("GRANT SELECT ON {table} TO {account}"),
            rights => format!("GRANT SELECT, {rights} ON {table} TO {account}"),
        };
        owner.execute(sql.as_str()).await.map_err(wrap)?;
    }
    Ok(())
}

/// Whom MySQL takes somebody for who comes by this URL, as statements name them, and on how many tables they have rights:
/// each account sees its own, an owner not those of others. They may not enter the database yet.
async fn account(url: &str) -> Result<(String, i64), StoreError> {
    let wrap = |source| StoreError::sql("ask for the nodes' account", source);
    let options: MySqlConnectOptions = url.parse().map_err(|source| StoreError::Url { source })?;
    let database = options.get_database().unwrap_or_default().to_owned();
    let asking = async {
        let open_to_all = options.database("information_schema");
        let mut connection = MySqlConnection::connect_with(&open_to_all).await?;
        sqlx::query_as(
            "SELECT CURRENT_USER(), COUNT(DISTINCT table_name) FROM table_privileges \
             WHERE table_schema = ?",
        )
        .bind(database)
        .fetch_one(&mut connection)
        .await
    };
    let asked: Result<(String, i64), sqlx::Error> = tokio::time::timeout(ACQUIRE_TIMEOUT, asking)
        .await
        .unwrap_or(Err(sqlx::Error::PoolTimedOut));
    let (account, tables) = asked.map_err(wrap)?;
    let (user, host) = account.rsplit_once('@').unwrap_or((&account, "%"));
    Ok((format!("'{user}'@'{host}'"), tables))
}

fn wanted() -> Vec<(&'static str, String)> {
    let named = RIGHTS
        .iter()
        .flat_map(|(rights, tables)| tables.iter().map(|table| (*rights, (*table).to_owned())));
    let stock = (0..SHARDS_MAX).map(|number| (STOCK_RIGHTS, format!("stock_{number:02}")));
    named.chain(stock).collect()
}
