//! Carries out what operators ask for: define a sale, warm it up, open it, close it. All is audited.

use std::sync::Arc;

use crate::reconcile::rebuild::{RebuildError, Rebuilder};
use crate::sale::catalogue::Catalogue;
use crate::sale::sku::{Gate, Rules, Sku};
use crate::stock::StockError;
use crate::store::{SaleState, Store, StoreError};

/// Who the audit log names; there is one operators' token.
const OPERATOR: &str = "operator";

/// An operator's call that was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum SalesError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Stock(#[from] StockError),
    #[error(transparent)]
    Rebuild(#[from] RebuildError),
    #[error("sale {0} has no SKU in MySQL; put the sale and its SKUs first")]
    Empty(String),
    #[error("no SKU of sale {0} is known here; warm up first")]
    Unknown(String),
    #[error("{sale}/{sku} was not warmed up on the Redis primary that answers now; warm up first")]
    NotWarm { sale: String, sku: String },
    #[error(
        "`{0}` is no name of a sale or SKU: 1 to 64 printable ASCII characters without {{ }} | : \" \\"
    )]
    Name(String),
}

/// Carries out what operators ask for.
#[derive(Clone)]
pub struct SaleDesk {
    pub catalogue: Arc<Catalogue>,
    pub store: Store,
    pub rebuilder: Rebuilder,
}

impl SaleDesk {
    /// Learns the sales that MySQL knows. Those that are open stay paused until the keeper has made
    /// sure of their stock.
    ///
    /// # Errors
    /// MySQL does not answer.
    pub async fn load(&self) -> Result<(), StoreError> {
        for sale in self.store.sales().await? {
            let gate = match sale.state {
                SaleState::Prepared => Gate::Prepared,
                SaleState::Open => Gate::Paused,
                SaleState::Closed => Gate::Closed,
            };
            self.learn(&sale.sale, gate).await?;
        }
        Ok(())
    }

    /// Overwrites Redis from MySQL for every SKU of the sale and compares both; leaves the gates
    /// closed. May be repeated.
    ///
    /// # Errors
    /// A difference, or a store that does not answer: the sale must not open.
    pub async fn warm_up(&self, sale: &str) -> Result<usize, SalesError> {
        let skus = self.learn(sale, Gate::Prepared).await?;
        if skus.is_empty() {
            return Err(SalesError::Empty(sale.to_owned()));
        }
        self.store.set_sale_state(sale, SaleState::Prepared).await?;
        for sku in &skus {
            sku.set_gate(Gate::Prepared);
        }
        for sku in &skus {
            self.rebuilder.close_drain_rebuild(sku).await?;
        }
        self.audit("warm-up", sale, &format!("{} SKUs", skus.len()))
            .await?;
        Ok(skus.len())
    }

    /// Opens the gates of a sale that is warm. MySQL first: a restart half way then finishes the job.
    ///
    /// # Errors
    /// Not warmed up, or a store does not answer: some gates may be open.
    pub async fn open(&self, sale: &str) -> Result<usize, SalesError> {
        let skus = self.catalogue.of_sale(sale);
        if skus.is_empty() {
            return Err(SalesError::Unknown(sale.to_owned()));
        }
        if let Some(cold) = skus.iter().find(|sku| !self.rebuilder.stock.is_ready(sku)) {
            return Err(SalesError::NotWarm {
                sale: cold.sale.clone(),
                sku: cold.sku.clone(),
            });
        }
        self.store.set_sale_state(sale, SaleState::Open).await?;
        for sku in skus.iter().filter(|sku| sku.gate() != Gate::Paused) {
            self.rebuilder
                .stock
                .set_gate(sku, sku.epoch(), Gate::Open)
                .await?;
            sku.set_gate(Gate::Open);
        }
        self.audit("open", sale, &format!("{} SKUs", skus.len()))
            .await?;
        Ok(skus.len())
    }

    /// Closes the gates for good.
    ///
    /// # Errors
    /// A store does not answer; this node sells nothing any more all the same.
    pub async fn close(&self, sale: &str) -> Result<usize, SalesError> {
        let skus = self.catalogue.of_sale(sale);
        for sku in &skus {
            sku.set_gate(Gate::Closed);
        }
        self.store.set_sale_state(sale, SaleState::Closed).await?;
        for sku in &skus {
            self.rebuilder.close_in_redis(sku).await;
        }
        self.audit("close", sale, &format!("{} SKUs", skus.len()))
            .await?;
        Ok(skus.len())
    }

    async fn learn(&self, sale: &str, gate: Gate) -> Result<Vec<Arc<Sku>>, StoreError> {
        let images = self.store.sku_images(sale).await?;
        let add = |image: crate::store::SkuImage| {
            let rules = Rules {
                limit_per_user: image.limit_per_user,
                starts_at_ms: image.starts_at_ms,
                ends_at_ms: image.ends_at_ms,
            };
            self.catalogue.get_or_add(sale, &image.sku, rules, gate)
        };
        Ok(images.into_iter().map(add).collect())
    }

    /// Writes a line of the audit log.
    ///
    /// # Errors
    /// MySQL does not answer.
    pub async fn audit(&self, what: &str, sale: &str, after: &str) -> Result<(), StoreError> {
        tracing::info!(sale, what, after, "operator");
        self.store.audit(OPERATOR, what, sale, "", after).await
    }
}
