//! Mutant `reopen-without-rebuild`: after a failover the gate reopens on whatever Redis holds.

use std::sync::Arc;

use crate::reconcile::rebuild::{RebuildError, Rebuilder};
use crate::sale::sku::Sku;
use crate::stock::identity::Identity;

/// Replaces drain, rebuild, compare.
///
/// # Errors
/// Redis does not answer.
pub async fn step(
    rebuilder: &Rebuilder,
    sku: &Arc<Sku>,
    epoch: u64,
) -> Result<Arc<Identity>, RebuildError> {
    let lane = rebuilder.stock.need(sku)?;
    rebuilder.stock.fence(sku, epoch).await?;
    Ok(Arc::clone(&lane.identity))
}
