//! Rebuilds one SKU in Redis from MySQL, and compares both.

use std::sync::Arc;

use super::lately::LatelyStored;
use crate::failpoints::{Point, reach};
use crate::operations::alerts::Alerts;
use crate::operations::metrics::Metrics;
use crate::queue::Queues;
use crate::sale::clock;
use crate::sale::sku::Sku;
use crate::stock::identity::Identity;
use crate::stock::image::{Image, ImageOrder, ImageState, Mismatch, compare};
use crate::stock::{Stock, StockError};
use crate::store::{OrderState, SkuImage, Store, StoreError};

/// A rebuild that must not be followed by an open gate.
#[derive(Debug, thiserror::Error)]
pub enum RebuildError {
    #[error(transparent)]
    Stock(#[from] StockError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("another attempt or another keeper has taken over")]
    NotLeading,
    #[error("{sale}/{sku} is not in MySQL; put the SKU first")]
    Missing { sale: String, sku: String },
    #[error("{sale}/{sku} differs after the rebuild: {first} ({count} differences); warm up again")]
    Mismatch {
        sale: String,
        sku: String,
        first: Box<Mismatch>,
        count: usize,
    },
}

/// Closes, drains, rebuilds and compares.
#[derive(Clone)]
pub struct Rebuilder {
    pub stock: Stock,
    pub store: Store,
    pub queues: Queues,
    pub lately: Arc<LatelyStored>,
    pub metrics: Metrics,
    pub alerts: Alerts,
    /// How long an unpaid order holds its units.
    pub hold: std::time::Duration,
}

impl Rebuilder {
    /// Close, drain, rebuild, compare, under a new epoch. The gate is closed in Redis afterwards, and the SKU is
    /// known to be right on the process that is returned.
    ///
    /// # Errors
    /// The gate must stay closed; the call may be repeated under a later epoch.
    pub async fn close_drain_rebuild(
        &self,
        sku: &Arc<Sku>,
        epoch: u64,
    ) -> Result<Arc<Identity>, RebuildError> {
        self.stock.fence(sku, epoch).await?;
        reach(Point::AfterClose);
        let drained = self.drain(sku, epoch).await?;
        tracing::info!(
            sale = sku.sale,
            sku = sku.sku,
            given_up = drained.given_up,
            took_ms = drained.took.as_millis(),
            "drained"
        );
        reach(Point::AfterDrain);
        let identity = self.rebuild(sku, epoch).await?;
        reach(Point::AfterRebuild);
        Ok(identity)
    }

    async fn rebuild(&self, sku: &Sku, epoch: u64) -> Result<Arc<Identity>, RebuildError> {
        let image = self
            .store
            .sku_images(&sku.sale)
            .await?
            .into_iter()
            .find(|image| image.sku == sku.sku);
        let missing = || RebuildError::Missing {
            sale: sku.sale.clone(),
            sku: sku.sku.clone(),
        };
        let image = self.image(image.ok_or_else(missing)?);
        // Rebuilt and compared on one connection, so that the identity noted is the one that was written.
        let lane = self.stock.need(sku)?;
        self.stock.rebuild(&lane, sku, epoch, &image).await?;
        let differences = compare(
            &image,
            &crate::stock::contents::read(&lane, &sku.keys)
                .await
                .map_err(StockError::from)?,
        );
        if let Some(first) = differences.first() {
            self.metrics.rebuild_mismatches.increment(1);
            return Err(RebuildError::Mismatch {
                sale: sku.sale.clone(),
                sku: sku.sku.clone(),
                first: Box::new(first.clone()),
                count: differences.len(),
            });
        }
        tracing::info!(
            sale = sku.sale,
            sku = sku.sku,
            epoch,
            available = image.available,
            orders = image.orders.len(),
            node = lane.identity.node_id,
            "rebuilt from MySQL and compared"
        );
        Ok(Arc::clone(&lane.identity))
    }

    fn image(&self, image: SkuImage) -> Image {
        let deadline_ms =
            clock::now_ms() + u64::try_from(self.hold.as_millis()).unwrap_or(u64::MAX);
        let order = |order: crate::store::ImageOrder| ImageOrder {
            order_id: order.order_id,
            user: order.user,
            quantity: order.quantity,
            state: match order.state {
                OrderState::Created => ImageState::Reserved,
                OrderState::Paid => ImageState::Paid,
                OrderState::Cancelled | OrderState::Expired | OrderState::Rejected => {
                    ImageState::Released
                }
            },
            deadline_ms,
        };
        Image {
            available: image.available,
            rules: image.rules,
            orders: image.orders.into_iter().map(order).collect(),
        }
    }
}
