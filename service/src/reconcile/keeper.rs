//! The keeper: notices that Redis cannot be trusted any more, and brings the SKU back. One of all nodes leads.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use super::check_back::CheckedBack;
use super::doubt::doubt_all;
use super::lease::Lease;
use super::rebuild::{RebuildError, Rebuilder};
use crate::parts::parts;
use crate::queue::QueuePath;
use crate::sale::catalogue::Catalogue;
use crate::sale::sku::{Gate, Sku};
use crate::stock::StockError;
use crate::stock::identity::Identity;
use crate::store::{GateRow, SaleState, StoreError};

/// Time between two looks at all SKUs.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// Time between two tries to bring one SKU back.
const RETRY_INTERVAL: Duration = Duration::from_millis(300);

/// Watches every SKU, while it leads.
#[derive(Clone)]
pub struct Keeper {
    pub node: String,
    pub catalogue: Arc<Catalogue>,
    pub rebuilder: Rebuilder,
    pub checked_back: CheckedBack,
}

/// SKUs that are being brought back or looked through, side by side. Dropped, it stops at once.
#[derive(Default)]
struct Restoring {
    tasks: JoinSet<(String, String)>,
    names: HashSet<(String, String)>,
}

impl Keeper {
    /// Runs until the task is aborted.
    pub async fn run(self) {
        let mut lease = Lease::new(self.rebuilder.store.clone(), self.node.clone());
        let mut restoring = Restoring::default();
        loop {
            if !lease.is_held(self.is_fit()).await {
                restoring = Restoring::default();
            } else if let Err(error) = self.look(&mut restoring).await {
                tracing::debug!(%error, "gates cannot be read");
            }
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
    }

    /// It reaches everything that a rebuild needs.
    fn is_fit(&self) -> bool {
        self.rebuilder.stock.is_complete() && self.rebuilder.queues.are_connected(&self.catalogue)
    }

    /// Begins to bring back what is not ready.
    async fn look(&self, restoring: &mut Restoring) -> Result<(), StoreError> {
        restoring.reap();
        let mut doubted = Vec::new();
        for row in self.rebuilder.store.gates().await?.rows {
            if row.state == SaleState::Closed {
                continue;
            }
            let Some(sku) = self.catalogue.find(&row.sale, &row.sku) else {
                continue; // This node learns of it any moment.
            };
            if row.is_ready {
                if self.is_elsewhere(&row, &sku) {
                    self.rebuilder.stock.pause(&sku);
                    doubted.push((row, sku));
                } else if row.rules.queue == QueuePath::Outbox {
                    self.check_back(restoring, &sku);
                }
            } else if restoring.names.insert((row.sale.clone(), row.sku.clone())) {
                let keeper = self.clone();
                restoring.tasks.spawn(async move {
                    keeper.restore(&sku, &row).await;
                    (row.sale, row.sku)
                });
            }
        }
        doubt_all(&self.rebuilder.store, &self.rebuilder.alerts, &doubted).await
    }

    /// One task a SKU at a time: nothing is adopted while the SKU is rebuilt.
    fn check_back(&self, restoring: &mut Restoring, sku: &Arc<Sku>) {
        let name = sku.name();
        if !restoring.names.insert(name.clone()) {
            return;
        }
        let (keeper, sku) = (self.clone(), Arc::clone(sku));
        restoring.tasks.spawn(async move {
            keeper
                .rebuilder
                .check_back(&sku, &keeper.checked_back)
                .await;
            name
        });
    }

    /// The SKU's primary is another process than the one it was verified on.
    fn is_elsewhere(&self, row: &GateRow, sku: &Sku) -> bool {
        let lane = self.rebuilder.stock.lane(sku.keys.slot);
        lane.is_some_and(|lane| {
            lane.identity.node_id != row.redis_node || lane.identity.run_id != row.redis_run
        })
    }

    /// Tries until the SKU is ready, or this keeper does not lead any more.
    async fn restore(&self, sku: &Arc<Sku>, row: &GateRow) {
        let (mut said, mut above) = (String::new(), sku.epoch());
        loop {
            let error = match self.bring_back(sku, row, above).await {
                Ok(()) | Err(RebuildError::NotLeading) => return,
                Err(error) => error,
            };
            if let RebuildError::Stock(StockError::StaleEpoch { found, .. }) = error {
                above = found;
            }
            let text = error.to_string();
            if text != said {
                tracing::warn!(
                    sale = sku.sale,
                    sku = sku.sku,
                    reason = text,
                    "SKU stays closed for now"
                );
                // Whoever waits for the SKU finds it there.
                drop(self.rebuilder.store.trouble(row, &text).await);
                said = text;
            }
            tokio::time::sleep(RETRY_INTERVAL).await;
        }
    }

    /// One attempt, under an epoch of its own.
    async fn bring_back(
        &self,
        sku: &Arc<Sku>,
        row: &GateRow,
        above: u64,
    ) -> Result<(), RebuildError> {
        let Rebuilder { stock, store, .. } = &self.rebuilder;
        // Nothing can be done before there is a primary to rebuild on.
        stock.need(sku)?;
        let epoch = store.next_epoch(row, above, &self.node).await?;
        let epoch = epoch.ok_or(RebuildError::NotLeading)?;
        let identity = match parts().rebuild(&self.rebuilder, sku, epoch) {
            Some(instead) => instead.await?,
            None => self.rebuilder.close_drain_rebuild(sku, epoch).await?,
        };
        self.open(sku, row, epoch, &identity).await
    }

    /// In Redis first: no node lets anybody in before MySQL says that the SKU is ready.
    async fn open(
        &self,
        sku: &Sku,
        row: &GateRow,
        epoch: u64,
        identity: &Identity,
    ) -> Result<(), RebuildError> {
        let Rebuilder { stock, store, .. } = &self.rebuilder;
        let sale = store.sale(&row.sale).await?;
        if sale.is_some_and(|sale| sale.state == SaleState::Open) {
            stock.set_gate(sku, epoch, Gate::Open).await?;
        }
        let Identity {
            node_id, run_id, ..
        } = identity;
        if store.ready(row, epoch, node_id, run_id).await? {
            tracing::info!(sale = sku.sale, sku = sku.sku, epoch, "ready");
            return Ok(());
        }
        Err(RebuildError::NotLeading)
    }
}

impl Restoring {
    /// Forgets those that are done.
    fn reap(&mut self) {
        while let Some(done) = self.tasks.try_join_next() {
            match done {
                Ok(name) => drop(self.names.remove(&name)),
                Err(error) => {
                    tracing::error!(%error, "a rebuild ended unexpectedly; its SKU stays closed");
                }
            }
        }
    }
}
