//! A transaction that locks a hot row and forgets to end.

use std::time::Duration;

use crate::drill::range::Count;
use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, kind};
use crate::faults::site::Site;
use crate::faults::sql::Session;

kind! {
    /// Holds the row lock of a SKU's stock in MySQL, as a transaction that nobody ends; rolled back when healed.
    pub struct MysqlLockHolder {
        /// Number of the SKU whose stock is locked, from 1.
        pub sku: Count,
    }
}

/// The holder, while it holds.
#[derive(Debug, Default)]
pub(crate) struct Holder {
    session: Option<Session>,
    thread: u64,
}

/// Transactions that wait for a lock of this connection's transaction. MariaDB tells in its own table, MySQL in the
/// performance schema.
const WAITING: [(&str, &str); 2] = [
    (
        "MariaDB",
        "SELECT COUNT(*) FROM information_schema.INNODB_LOCK_WAITS w
         JOIN information_schema.INNODB_TRX t ON t.trx_id = w.blocking_trx_id
         WHERE t.trx_mysql_thread_id = CONNECTION_ID()",
    ),
    (
        "",
        "SELECT COUNT(*) FROM performance_schema.data_lock_waits w
         JOIN information_schema.INNODB_TRX t ON t.trx_id = w.BLOCKING_ENGINE_TRANSACTION_ID
         WHERE t.trx_mysql_thread_id = CONNECTION_ID()",
    ),
];

/// InnoDB shows its transactions as they were, until nobody has looked for 100 ms.
const UNSEEN: Duration = Duration::from_millis(150);

impl Kind for MysqlLockHolder {
    type State = Holder;

    async fn applicable(&self, _: &mut Holder, site: Site<'_>) -> Result<String, FaultError> {
        let sku = site.sku(self.sku.get())?;
        if site.target.state.stock_lock.is_empty() {
            return Err(FaultError::NoField {
                field: "state.stock_lock",
            });
        }
        Ok(format!("mysql: the row lock of SKU {sku}'s stock held"))
    }

    async fn inject(&self, holder: &mut Holder, site: Site<'_>) -> Result<(), FaultError> {
        let sku = site.sku(self.sku.get())?.to_owned();
        let template = &site.target.state.stock_lock;
        let lock = site.fill("state.stock_lock", template, &[("sku", sku)])?;
        let mut session = Session::open(&site.stack.mysql.url()).await?;
        let step = "locking the row";
        holder.thread = session.value(step, "SELECT CONNECTION_ID()").await?;
        session.execute(step, "START TRANSACTION").await?;
        let rows = session.rows(step, &lock).await?;
        if rows.is_empty() {
            return Err(FaultError::missing(format!(
                "`{lock}` finds no row to lock"
            )));
        }
        holder.session = Some(session);
        Ok(())
    }

    async fn receipt(&self, holder: &mut Holder, _: Site<'_>) -> Result<String, FaultError> {
        let Some(session) = &mut holder.session else {
            return Err(FaultError::missing("no lock is held"));
        };
        let step = "counting lock waits";
        let version: String = session.value(step, "SELECT VERSION()").await?;
        let mut dialects = WAITING.iter();
        let dialect = dialects.find(|(product, _)| version.contains(product));
        let (_, waiting) = dialect.expect("the last one fits every product");
        tokio::time::sleep(UNSEEN).await;
        match session.value::<i64>(step, waiting).await? {
            0 => Err(FaultError::missing(
                "no transaction waits for the locked row",
            )),
            waiting => Ok(format!(
                "{waiting} transactions wait for the row that connection {} has locked",
                holder.thread
            )),
        }
    }

    /// A server that died meanwhile has forgotten the lock, so a failed roll-back is one too.
    async fn heal(&self, holder: &mut Holder, _: Site<'_>) -> Result<(), FaultError> {
        if let Some(mut session) = holder.session.take() {
            let _ = session.execute("rolling back", "ROLLBACK").await;
        }
        Ok(())
    }

    /// The holder's transaction is over.
    async fn is_healed(&self, holder: &Holder, site: Site<'_>) -> Result<(), FaultError> {
        let mut session = Session::open(&site.stack.mysql.url()).await?;
        let sql = format!(
            "SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id = {}",
            holder.thread
        );
        tokio::time::sleep(UNSEEN).await;
        match session.value::<i64>("looking for the lock", &sql).await? {
            0 => Ok(()),
            _ => Err(FaultError::missing("the lock is still held")),
        }
    }
}
