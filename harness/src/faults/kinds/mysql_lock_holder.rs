//! A transaction that locks a hot row and forgets to end.

use crate::drill::range::Count;
use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, kind};
use crate::faults::row_lock::{RowLock, UNSEEN, is_over};
use crate::faults::site::Site;

kind! {
    /// Holds the row lock of a SKU's stock in MySQL, as a transaction that nobody ends; rolled back when healed.
    pub struct MysqlLockHolder {
        /// Number of the SKU whose stock is locked, from 1.
        pub sku: Count,
    }
}

/// The lock while it is held, and whose it was.
#[derive(Debug, Default)]
pub(crate) struct Holder {
    lock: Option<RowLock>,
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

impl Kind for MysqlLockHolder {
    type State = Holder;

    async fn applicable(&self, _: &mut Holder, site: Site<'_>) -> Result<String, FaultError> {
        let sku = RowLock::sku(site, self.sku)?;
        Ok(format!("mysql: the row lock of SKU {sku}'s stock held"))
    }

    async fn inject(&self, holder: &mut Holder, site: Site<'_>) -> Result<(), FaultError> {
        let mut lock = RowLock::prepare(site, self.sku).await?;
        holder.thread = lock.thread;
        lock.begin().await?;
        lock.lock().await?;
        holder.lock = Some(lock);
        Ok(())
    }

    async fn receipt(&self, holder: &mut Holder, _: Site<'_>) -> Result<String, FaultError> {
        let Some(lock) = &mut holder.lock else {
            return Err(FaultError::missing("no lock is held"));
        };
        tokio::time::sleep(UNSEEN).await;
        let step = "counting lock waits";
        match lock.session.value_by_product::<i64>(step, &WAITING).await? {
            0 => Err(FaultError::missing(
                "no transaction waits for the locked row",
            )),
            waiting => Ok(format!(
                "{waiting} transactions wait for the row that connection {} has locked",
                holder.thread
            )),
        }
    }

    async fn heal(&self, holder: &mut Holder, _: Site<'_>) -> Result<(), FaultError> {
        if let Some(mut lock) = holder.lock.take() {
            lock.let_go().await;
        }
        Ok(())
    }

    /// The holder's transaction is over.
    async fn is_healed(&self, holder: &Holder, site: Site<'_>) -> Result<(), FaultError> {
        is_over(holder.thread, site).await
    }
}
