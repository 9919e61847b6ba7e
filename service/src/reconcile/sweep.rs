//! Small regular duties: promises whose row nobody reported, and sold-out marks that no longer hold.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::operations::metrics::Metrics;
use crate::sale::catalogue::Catalogue;
use crate::sale::promises::Promises;
use crate::sale::sku::Gate;
use crate::stock::Stock;
use crate::store::Store;

/// Time between two sweeps; also how long a mark can outlive a release on another node.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

/// What the sweep looks at.
#[derive(Debug, Clone)]
pub struct Sweep {
    pub catalogue: Arc<Catalogue>,
    pub promises: Arc<Promises>,
    pub stock: Stock,
    pub store: Store,
    pub metrics: Metrics,
}

impl Sweep {
    /// Runs until the task is aborted.
    pub async fn run(self) {
        loop {
            tokio::time::sleep(SWEEP_INTERVAL).await;
            self.keep_promises().await;
            self.doubt_marks().await;
        }
    }

    /// Orders applied by another node, or before this one noted its promise.
    async fn keep_promises(&self) {
        let ids = self.promises.to_look_for(Instant::now());
        if ids.is_empty() {
            return;
        }
        match self.store.existing_for_some_time(&ids).await {
            Ok((existing, from)) => {
                self.metrics.looked_up(from);
                existing.iter().for_each(|id| drop(self.promises.kept(id)));
            }
            Err(error) => tracing::debug!(%error, "promises cannot be compared with MySQL"),
        }
    }

    /// Stock may have come back through another node.
    async fn doubt_marks(&self) {
        for sku in self.catalogue.all() {
            if sku.gate() != Gate::Open || !sku.marks.any_sold_out() {
                continue;
            }
            if self
                .stock
                .available(&sku)
                .await
                .is_ok_and(|available| available > 0)
            {
                sku.marks.clear();
            }
        }
    }
}
