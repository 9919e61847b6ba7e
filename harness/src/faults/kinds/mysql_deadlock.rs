//! A transaction that holds what others want, and reaches for what they hold.

use std::time::Duration;

use crate::drill::range::Count;
use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, kind};
use crate::faults::row_lock::{RowLock, is_over};
use crate::faults::site::Site;

kind! {
    /// Makes deadlocks in MySQL: locks the row of a SKU's stock and reaches for the orders of whoever waits for it, so
    /// that the server rolls theirs back; over when healed.
    pub struct MysqlDeadlock {
        /// Number of the SKU whose stock is locked, from 1.
        pub sku: Count,
        /// How many before there is a receipt.
        pub times: u64 = 1,
    }
}

/// The lock while it is held, whose it was, and the deadlocks that others have lost.
#[derive(Debug, Default)]
pub(crate) struct Rival {
    lock: Option<RowLock>,
    thread: u64,
    won: u64,
}

const SESSION: [&str; 2] = [
    // Only the orders that are there are locked, and not where others may come.
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "CREATE TEMPORARY TABLE flashdrill_ballast (id INT PRIMARY KEY) ENGINE = InnoDB",
];
/// Of two transactions in a deadlock the one that has changed less is rolled back, so this one changes much where nobody
/// sees it: a batch of orders changes some hundreds of rows.
const BALLAST: &str = "INSERT INTO flashdrill_ballast
     WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT i FROM n";
/// Meanwhile somebody comes who wants the row.
const LYING_IN_WAIT: Duration = Duration::from_millis(100);

const COUNT: [(&str, &str); 2] = [
    (
        "MariaDB",
        "SELECT CAST(VARIABLE_VALUE AS SIGNED) FROM information_schema.GLOBAL_STATUS
         WHERE VARIABLE_NAME = 'INNODB_DEADLOCKS'",
    ),
    (
        "",
        "SELECT CAST(`COUNT` AS SIGNED) FROM information_schema.INNODB_METRICS
         WHERE NAME = 'lock_deadlocks'",
    ),
];

impl Kind for MysqlDeadlock {
    type State = Rival;

    async fn applicable(&self, _: &mut Rival, site: Site<'_>) -> Result<String, FaultError> {
        let sku = RowLock::sku(site, self.sku)?;
        Ok(format!(
            "mysql: deadlocks about the row of SKU {sku}'s stock"
        ))
    }

    async fn inject(&self, rival: &mut Rival, site: Site<'_>) -> Result<(), FaultError> {
        let mut lock = RowLock::prepare(site, self.sku).await?;
        rival.thread = lock.thread;
        for sql in SESSION {
            lock.session.execute("preparing deadlocks", sql).await?;
        }
        rival.lock = Some(lock);
        Ok(())
    }

    /// One deadlock at a time, if somebody is there to lose it.
    async fn receipt(&self, rival: &mut Rival, site: Site<'_>) -> Result<String, FaultError> {
        let Some(lock) = &mut rival.lock else {
            return Err(FaultError::missing("no lock is held"));
        };
        let clash = clash(lock, site).await;
        lock.let_go().await;
        rival.won += clash?;
        let (won, times) = (rival.won, self.times);
        match won < times {
            true => Err(FaultError::missing(format!(
                "{won} of {times} transactions were rolled back by deadlocks"
            ))),
            false => Ok(format!(
                "{won} transactions rolled back by deadlocks with connection {}",
                rival.thread
            )),
        }
    }

    async fn heal(&self, rival: &mut Rival, _: Site<'_>) -> Result<(), FaultError> {
        if let Some(mut lock) = rival.lock.take() {
            lock.let_go().await;
        }
        Ok(())
    }

    async fn is_healed(&self, rival: &Rival, site: Site<'_>) -> Result<(), FaultError> {
        is_over(rival.thread, site).await
    }
}

/// The deadlocks that others lost to one reach; an error where this transaction lost, or waited in vain.
async fn clash(lock: &mut RowLock, site: Site<'_>) -> Result<u64, FaultError> {
    let orders = site.fill("state.orders", &site.target.state.orders, &[])?;
    let step = "counting deadlocks";
    lock.begin().await?;
    lock.session.execute("making weight", BALLAST).await?;
    lock.lock().await?;
    tokio::time::sleep(LYING_IN_WAIT).await;
    let before: i64 = lock.session.value_by_product(step, &COUNT).await?;
    let reach = format!("{orders} FOR UPDATE");
    lock.session.rows("reaching for the orders", &reach).await?;
    let after: i64 = lock.session.value_by_product(step, &COUNT).await?;
    Ok(u64::try_from(after - before).unwrap_or(0))
}
