//! Gates of SKUs, as all nodes see them: whether a SKU's stock is right in Redis, where, and under which epoch.

use sqlx::MySqlConnection;
use sqlx::mysql::MySqlRow;

use super::node::NOW_MS;
use super::order::{number, text};
use super::sale::{SaleState, rules};
use super::{Store, StoreError};
use crate::sale::sku::Rules;

/// One SKU that was warmed up once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateRow {
    pub sale: String,
    pub sku: String,
    pub rules: Rules,
    pub state: SaleState,
    pub epoch: u64,
    /// The stock is right on the process below.
    pub is_ready: bool,
    /// Node id and run id of the Redis primary.
    pub redis_node: String,
    pub redis_run: String,
    /// Why it is not ready yet.
    pub trouble: String,
}

/// All gates as of one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gates {
    /// Not later than that moment; MySQL's clock.
    pub read_at_ms: u64,
    pub rows: Vec<GateRow>,
}

impl Store {
    pub async fn gates(&self) -> Result<Gates, StoreError> {
        let read_at_ms = self.now_ms().await?;
        let rows = sqlx::query(
            "SELECT g.sale, g.sku, s.limit_per_user, s.starts_at_ms, s.ends_at_ms, s.queue, s.state, g.epoch, g.is_ready, \
             g.redis_node, g.redis_run, g.trouble FROM gates g JOIN sales s ON s.sale = g.sale",
        )
        .fetch_all(&self.control)
        .await
        .map_err(|source| StoreError::sql("read the gates", source))?;
        let rows = rows.iter().map(read).collect::<Result<_, _>>()?;
        Ok(Gates { read_at_ms, rows })
    }

    /// All SKUs of a sale are to be made sure of, those too that never were. An attempt that has begun does not
    /// count any more.
    pub async fn doubt_sale(&self, sale: &str) -> Result<(), StoreError> {
        let doubted = sqlx::query(
            "INSERT INTO gates (sale, sku, epoch, is_ready, redis_node, redis_run, trouble) \
             SELECT sale, sku, 0, 0, '', '', '' FROM stock WHERE sale = ? \
             ON DUPLICATE KEY UPDATE epoch = gates.epoch + 1, is_ready = 0, trouble = ''",
        );
        self.affected("close a sale's gates", doubted.bind(sale))
            .await
            .map(drop)
    }

    /// The stock is to be made sure of, unless that has happened since this row was read. Says whether it was this
    /// call that closed the gate: of all nodes one is told so.
    pub async fn doubt(&self, row: &GateRow) -> Result<bool, StoreError> {
        let doubted = sqlx::query(
            "UPDATE gates SET is_ready = 0, trouble = '' \
             WHERE sale = ? AND sku = ? AND epoch = ? AND is_ready = 1",
        );
        let doubted = doubted.bind(&row.sale).bind(&row.sku).bind(row.epoch);
        Ok(self.affected("close a gate", doubted).await? == 1)
    }

    /// A new epoch, above `above` and all before it, for the next attempt of the keeper `node`; None if it does not
    /// lead any more.
    pub async fn next_epoch(
        &self,
        row: &GateRow,
        above: u64,
        node: &str,
    ) -> Result<Option<u64>, StoreError> {
        let sql = format!(
            "UPDATE gates SET epoch = LAST_INSERT_ID(GREATEST(epoch, ?) + 1), is_ready = 0 \
             WHERE sale = ? AND sku = ? AND EXISTS \
             (SELECT 1 FROM keeper_lease WHERE node = ? AND expires_at_ms > {NOW_MS})"
        );
        let next = sqlx::query(&sql)
            .bind(above)
            .bind(&row.sale)
            .bind(&row.sku)
            .bind(node)
            .execute(&self.control)
            .await
            .map_err(|source| StoreError::sql("begin an epoch", source))?;
        Ok((next.rows_affected() == 1).then(|| next.last_insert_id()))
    }

    /// The stock is right on this process, unless a later attempt has begun; says whether it is.
    pub async fn ready(
        &self,
        row: &GateRow,
        epoch: u64,
        redis_node: &str,
        redis_run: &str,
    ) -> Result<bool, StoreError> {
        let ready = sqlx::query(
            "UPDATE gates SET is_ready = 1, redis_node = ?, redis_run = ?, trouble = '' \
             WHERE sale = ? AND sku = ? AND epoch = ? AND is_ready = 0",
        );
        let ready = ready.bind(redis_node).bind(redis_run);
        let ready = ready.bind(&row.sale).bind(&row.sku).bind(epoch);
        Ok(self.affected("open a gate", ready).await? == 1)
    }

    /// Says why a SKU is not ready yet.
    pub async fn trouble(&self, row: &GateRow, why: &str) -> Result<(), StoreError> {
        let why: String = why.chars().take(255).collect();
        let told =
            sqlx::query("UPDATE gates SET trouble = ? WHERE sale = ? AND sku = ? AND is_ready = 0");
        let told = told.bind(why).bind(&row.sale).bind(&row.sku);
        self.affected("note why a gate is closed", told)
            .await
            .map(drop)
    }

    /// The node lets nobody in, and nothing of the SKU is on its way through it.
    pub async fn quiet(
        &self,
        node: &str,
        sale: &str,
        sku: &str,
        epoch: u64,
    ) -> Result<(), StoreError> {
        let said = sqlx::query(
            "INSERT INTO quiet_nodes (sale, sku, node, epoch) VALUES (?, ?, ?, ?) \
             ON DUPLICATE KEY UPDATE epoch = VALUES(epoch)",
        );
        let said = said.bind(sale).bind(sku).bind(node).bind(epoch);
        self.affected("note that a node is quiet", said)
            .await
            .map(drop)
    }

    /// Gateways that have not said under this epoch that they are quiet. Dead ones count until they are struck off.
    pub async fn gateways_not_quiet(
        &self,
        sale: &str,
        sku: &str,
        epoch: u64,
    ) -> Result<i64, StoreError> {
        sqlx::query_scalar(
            "SELECT COUNT(*) FROM nodes n WHERE n.is_gateway = 1 AND NOT EXISTS (SELECT 1 FROM quiet_nodes q \
             WHERE q.sale = ? AND q.sku = ? AND q.node = n.node AND q.epoch = ?)",
        )
        .bind(sale)
        .bind(sku)
        .bind(epoch)
        .fetch_one(&self.control)
        .await
        .map_err(|source| StoreError::sql("look for nodes that are not quiet", source))
    }
}

/// One SKU is to be made sure of, from the end of this transaction on. An attempt that has begun does not count any more.
pub(super) async fn doubt_sku(
    connection: &mut MySqlConnection,
    sale: &str,
    sku: &str,
) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE gates SET epoch = epoch + 1, is_ready = 0, trouble = '' WHERE sale = ? AND sku = ?",
    )
    .bind(sale)
    .bind(sku)
    .execute(connection)
    .await
    .map(drop)
    .map_err(|source| StoreError::sql("close a SKU's gate", source))
}

fn read(row: &MySqlRow) -> Result<GateRow, StoreError> {
    Ok(GateRow {
        sale: text(row, "sale")?,
        sku: text(row, "sku")?,
        rules: rules(row)?,
        state: SaleState::parse(&text(row, "state")?)?,
        epoch: number(row, "epoch")?,
        is_ready: number::<u8>(row, "is_ready")? == 1,
        redis_node: text(row, "redis_node")?,
        redis_run: text(row, "redis_run")?,
        trouble: text(row, "trouble")?,
    })
}
