//! The row lock of a SKU's stock, held by a transaction of ours.

use std::time::Duration;

use super::error::FaultError;
use super::site::Site;
use super::sql::Session;
use crate::drill::range::Count;

/// InnoDB shows its transactions as they were, until nobody has looked for 100 ms.
pub(super) const UNSEEN: Duration = Duration::from_millis(150);

const STEP: &str = "locking the row";

/// Held until it is let go, or its connection ends.
#[derive(Debug)]
pub(crate) struct RowLock {
    pub session: Session,
    /// Of the server, by whose number its transaction is known.
    pub thread: u64,
    sql: String,
}

impl RowLock {
    /// The id of the SKU whose row would be locked.
    ///
    /// # Errors
    /// There is no such SKU, or the target file does not say how.
    pub fn sku(site: Site<'_>, number: Count) -> Result<&str, FaultError> {
        if site.target.state.stock_lock.is_empty() {
            return Err(FaultError::NoField {
                field: "state.stock_lock",
            });
        }
        site.sku(number.get())
    }

    /// A connection that has locked nothing yet.
    ///
    /// # Errors
    /// MySQL does not answer.
    pub async fn prepare(site: Site<'_>, number: Count) -> Result<Self, FaultError> {
        let sku = Self::sku(site, number)?.to_owned();
        let template = &site.target.state.stock_lock;
        let sql = site.fill("state.stock_lock", template, &[("sku", sku)])?;
        let mut session = Session::open(&site.stack.mysql.url()).await?;
        let thread = session.value(STEP, "SELECT CONNECTION_ID()").await?;
        Ok(Self {
            session,
            thread,
            sql,
        })
    }

    pub async fn begin(&mut self) -> Result<(), FaultError> {
        self.session.execute(STEP, "START TRANSACTION").await
    }

    /// In the transaction that has begun.
    ///
    /// # Errors
    /// There is no row to lock, or somebody has held it for too long.
    pub async fn lock(&mut self) -> Result<(), FaultError> {
        match self.session.rows(STEP, &self.sql).await?.is_empty() {
            false => Ok(()),
            true => Err(FaultError::missing(format!(
                "`{}` finds no row to lock",
                self.sql
            ))),
        }
    }

    /// A server that died meanwhile has forgotten the lock, so a failed roll-back is one too.
    pub async fn let_go(&mut self) {
        let _ = self.session.execute("rolling back", "ROLLBACK").await;
    }
}

/// Whether the transaction of this connection is over; the error says that it is not.
pub(crate) async fn is_over(thread: u64, site: Site<'_>) -> Result<(), FaultError> {
    let mut session = Session::open(&site.stack.mysql.url()).await?;
    let sql = format!(
        "SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id = {thread}"
    );
    tokio::time::sleep(UNSEEN).await;
    match session.value::<i64>("looking for the lock", &sql).await? {
        0 => Ok(()),
        _ => Err(FaultError::missing("the lock is still held")),
    }
}
