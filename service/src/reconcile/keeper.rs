//! The keeper: notices that Redis cannot be trusted any more, and brings the SKU back.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use super::rebuild::{RebuildError, RebuildStep, Rebuilder};
use crate::sale::catalogue::Catalogue;
use crate::sale::sku::{Gate, Sku};
use crate::stock::StockError;

/// Time between two looks at all SKUs.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// Time between two tries to bring one SKU back.
const RETRY_INTERVAL: Duration = Duration::from_millis(300);

/// Watches every SKU of the catalogue.
#[derive(Clone)]
pub struct Keeper {
    pub catalogue: Arc<Catalogue>,
    pub rebuilder: Rebuilder,
    pub step: RebuildStep,
}

impl Keeper {
    /// Runs until the task is aborted. SKUs are brought back side by side.
    pub async fn run(self) {
        let mut restoring = JoinSet::new();
        let mut at_work: HashSet<(String, String)> = HashSet::new();
        loop {
            for sku in self.catalogue.all() {
                self.guard(&sku);
                let name = (sku.sale.clone(), sku.sku.clone());
                if sku.gate() == Gate::Paused && at_work.insert(name.clone()) {
                    let keeper = self.clone();
                    restoring.spawn(async move {
                        keeper.restore(&sku).await;
                        name
                    });
                }
            }
            tokio::time::sleep(LOOK_INTERVAL).await;
            while let Some(done) = restoring.try_join_next() {
                match done {
                    Ok(name) => drop(at_work.remove(&name)),
                    Err(error) => {
                        tracing::error!(%error, "a rebuild ended unexpectedly; its SKU stays closed");
                    }
                }
            }
        }
    }

    /// Closes the gate of a SKU whose primary is another process than the one it was verified on, or
    /// that was seen to differ from MySQL.
    fn guard(&self, sku: &Sku) {
        if sku.gate() != Gate::Open {
            return;
        }
        let stock = &self.rebuilder.stock;
        let is_foreign = stock
            .lane(sku.keys.slot)
            .is_some_and(|lane| lane.identity.number != sku.verified_on());
        if is_foreign || sku.is_suspect() {
            stock.pause(sku);
        }
    }

    /// Tries until the SKU is open again, or an operator closes it.
    async fn restore(&self, sku: &Arc<Sku>) {
        let mut said = String::new();
        while sku.gate() == Gate::Paused {
            match self.bring_back(sku).await {
                Ok(()) => return,
                Err(error) => {
                    let text = error.to_string();
                    if text != said {
                        tracing::warn!(
                            sale = sku.sale,
                            sku = sku.sku,
                            reason = text,
                            "SKU stays closed for now"
                        );
                        said = text;
                    }
                    tokio::time::sleep(RETRY_INTERVAL).await;
                }
            }
        }
    }

    async fn bring_back(&self, sku: &Arc<Sku>) -> Result<(), RebuildError> {
        // Nothing can be done before there is a primary to rebuild on.
        self.rebuilder.stock.need(sku)?;
        match self.step {
            RebuildStep::FromStore => self.rebuilder.close_drain_rebuild(sku).await?,
            #[cfg(feature = "mutants")]
            RebuildStep::Skipped => {
                crate::mutants::reopen_without_rebuild::step(&self.rebuilder, sku).await?;
            }
        }
        Ok(self.open(sku).await?)
    }

    /// Opens in Redis, then here, unless an operator closed the SKU in between.
    async fn open(&self, sku: &Sku) -> Result<(), StockError> {
        self.rebuilder
            .stock
            .set_gate(sku, sku.epoch(), Gate::Open)
            .await?;
        if sku.move_gate(Gate::Paused, Gate::Open) {
            tracing::info!(
                sale = sku.sale,
                sku = sku.sku,
                epoch = sku.epoch(),
                "gate open again"
            );
        } else {
            self.rebuilder.close_in_redis(sku).await;
        }
        Ok(())
    }
}
