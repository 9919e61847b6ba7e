//! Mutant `reopen-without-rebuild`: after a failover the gate reopens on whatever Redis holds.

use std::sync::Arc;

use crate::reconcile::rebuild::{RebuildError, Rebuilder};
use crate::sale::sku::Sku;
use crate::stock::identity::Identity;
use crate::stock::{StockError, contents};

/// Replaces drain, rebuild, compare.
///
/// # Errors
/// Redis does not answer; or those of a rebuild, at warm-up.
pub async fn step(
    rebuilder: &Rebuilder,
    sku: &Arc<Sku>,
    epoch: u64,
) -> Result<Arc<Identity>, RebuildError> {
    let lane = rebuilder.stock.need(sku)?;
    let held = contents::read(&lane, &sku.keys).await;
    if held.map_err(StockError::from)?.available.is_none() {
        // Warm-up: without it there would be nothing to sell, and nothing to get wrong.
        return rebuilder.close_drain_rebuild(sku, epoch).await;
    }
    rebuilder.stock.fence(sku, epoch).await?;
    Ok(Arc::clone(&lane.identity))
}
