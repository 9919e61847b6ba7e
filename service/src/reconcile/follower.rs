//! Keeps this node in step with the others: learns SKUs and gates from MySQL, doubts aloud.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::doubt::doubt_all;
use super::quiet::Closing;
use crate::operations::alerts::{Alerts, Trouble};
use crate::sale::catalogue::Catalogue;
use crate::sale::sku::{Gate, Sku};
use crate::stock::Stock;
use crate::store::{GateRow, SaleState, Store, StoreError};

/// Time between two readings: how late a node learns what another one did.
const READ_INTERVAL: Duration = Duration::from_millis(100);

/// One node among the others.
pub struct Follower {
    /// Its name among the nodes, unique to this process.
    pub node: String,
    /// Buyers come in here.
    pub is_gateway: bool,
    pub catalogue: Arc<Catalogue>,
    pub stock: Stock,
    pub store: Store,
    pub alerts: Alerts,
    /// Of the last reading, for [`super::quiet::Quieter`]: it asks queues and MySQL for orders and may take long, and a
    /// node is dead to the others when it is silent for [`crate::store::NODE_TTL`].
    pub closing: watch::Sender<Vec<Closing>>,
}

impl Follower {
    /// Runs until the task is aborted. While MySQL is away everything stays as it is: Redis's epochs see to it that
    /// a node which has missed something sells nothing.
    pub async fn run(self) {
        let mut is_away = false;
        loop {
            tokio::time::sleep(READ_INTERVAL).await;
            let read = self.read().await;
            if let Err(error) = &read
                && !is_away
            {
                tracing::warn!(%error, "gates cannot be read; they stay as they are");
            }
            is_away = read.is_err();
        }
    }

    /// One reading, and what follows from it.
    ///
    /// # Errors
    /// MySQL does not answer.
    pub async fn read(&self) -> Result<(), StoreError> {
        let gates = self.store.gates().await?;
        let (mut closing, mut doubted) = (Vec::new(), Vec::new());
        for row in gates.rows {
            let sku = self.adopt(&row);
            if !row.is_ready {
                closing.push(Closing {
                    sku,
                    epoch: row.epoch,
                });
            } else if sku.is_suspect() && sku.epoch() == row.epoch && row.state != SaleState::Closed
            {
                doubted.push((row, sku));
            }
        }
        self.closing.send_replace(closing);
        doubt_all(&self.store, &self.alerts, &doubted).await?;
        self.store
            .beat(&self.node, self.is_gateway, gates.read_at_ms)
            .await
    }

    /// Brings one SKU here to what the row says.
    fn adopt(&self, row: &GateRow) -> Arc<Sku> {
        let sku = self
            .catalogue
            .get_or_add(&row.sale, &row.sku, row.rules, Gate::Prepared);
        if row.is_ready && row.epoch > sku.epoch() {
            let verified_on = self.stock.identity(&row.redis_node, &row.redis_run);
            sku.rebuilt(row.rules, row.epoch, verified_on);
        }
        let (before, now) = (sku.gate(), self.gate(row, &sku));
        if now == Gate::Paused {
            self.stock.pause(&sku);
        }
        sku.set_gate(now);
        if (before, now) == (Gate::Paused, Gate::Open) {
            self.alerts.over(Trouble::StockPaused, &sku);
            tracing::info!(
                sale = sku.sale,
                sku = sku.sku,
                epoch = row.epoch,
                "gate open again"
            );
        }
        sku
    }

    /// A gate that this node closed by itself stays closed while its reason lasts.
    fn gate(&self, row: &GateRow, sku: &Sku) -> Gate {
        let is_doubted = || sku.is_suspect() || !self.stock.is_ready(sku);
        match row.state {
            SaleState::Prepared => Gate::Prepared,
            SaleState::Closed => Gate::Closed,
            SaleState::Open if !row.is_ready => Gate::Paused,
            SaleState::Open if sku.gate() == Gate::Paused && is_doubted() => Gate::Paused,
            SaleState::Open => Gate::Open,
        }
    }
}
