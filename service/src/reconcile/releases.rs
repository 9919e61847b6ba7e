//! Gives units back in Redis once MySQL has given them back, and repeats it until it is done.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::sale::catalogue::Catalogue;
use crate::sale::sku::Sku;
use crate::stock::Stock;
use crate::store::{ReleaseRow, Store, StoreError};

/// Releases of one sweep at most.
const SWEEP_MAX: u32 = 200;

/// Time between two sweeps when nobody asks for one.
const SWEEP_INTERVAL: Duration = Duration::from_millis(500);

/// Handle; clones share the wake-up.
#[derive(Debug, Clone)]
pub struct Releases {
    pub catalogue: Arc<Catalogue>,
    pub stock: Stock,
    pub store: Store,
    pub due: Arc<Notify>,
}

impl Releases {
    /// An order has just been cancelled in MySQL: release it now, or leave it to the sweep.
    pub async fn after(&self, order_id: &str) {
        let Ok(Some(row)) = self.store.order(order_id).await else {
            return self.wake();
        };
        let release = ReleaseRow {
            order_id: row.order_id,
            sale: row.sale,
            sku: row.sku,
        };
        if self.release(&release).await {
            if let Err(error) = self.store.mark_released(&[release.order_id]).await {
                tracing::debug!(%error, "release is done but not marked; it will be repeated, which changes nothing");
            }
        } else {
            self.wake();
        }
    }

    /// Asks for a sweep soon.
    pub fn wake(&self) {
        self.due.notify_one();
    }

    /// Sweeps until the task is aborted.
    pub async fn run(self) {
        loop {
            let swept = self.sweep().await;
            if let Err(error) = &swept {
                tracing::debug!(%error, "pending releases cannot be read or marked");
            }
            if !swept.is_ok_and(|done| done == SWEEP_MAX as usize) {
                drop(tokio::time::timeout(SWEEP_INTERVAL, self.due.notified()).await);
            }
        }
    }

    /// One pass over the releases that are due; returns how many were done.
    ///
    /// # Errors
    /// MySQL does not answer.
    pub async fn sweep(&self) -> Result<usize, StoreError> {
        let mut done = Vec::new();
        for row in self.store.pending_releases(SWEEP_MAX).await? {
            if self.release(&row).await {
                done.push(row.order_id);
            }
        }
        if !done.is_empty() {
            self.store.mark_released(&done).await?;
        }
        Ok(done.len())
    }

    /// True if Redis has given the units back, now or before.
    async fn release(&self, row: &ReleaseRow) -> bool {
        // A SKU that nobody sells here has nothing in Redis to give back.
        let Some(sku) = self.catalogue.find(&row.sale, &row.sku) else {
            return true;
        };
        match self.stock.release(&sku, &row.order_id).await {
            Ok(released) => {
                if released.is_new {
                    self.tell(&sku, released.remaining);
                }
                true
            }
            Err(error) => {
                tracing::debug!(order = row.order_id, %error, "release is repeated later");
                false
            }
        }
    }

    fn tell(&self, sku: &Sku, remaining: i64) {
        // Whose limit this was is only in the ledger: all users of the SKU are asked about again.
        sku.marks.clear();
        tracing::debug!(sale = sku.sale, sku = sku.sku, remaining, "units released");
    }
}
