use std::sync::Arc;

use super::Mutant;
use crate::parts::{Instead, Parts};
use crate::reconcile::rebuild::{RebuildError, Rebuilder};
use crate::sale::sku::Sku;
use crate::stock::identity::Identity;
use crate::stock::{StockError, contents};

pub const MUTANT: Mutant = Mutant {
    name: "reopen-without-rebuild",
    breaks: "After a failover the gate reopens on whatever the new primary holds.",
    kind: "K39",
    control: "RD-6",
    part: "rebuild step",
    parts: &ReopenWithoutRebuild,
};

struct ReopenWithoutRebuild;

impl Parts for ReopenWithoutRebuild {
    fn rebuild<'a>(
        &self,
        rebuilder: &'a Rebuilder,
        sku: &'a Arc<Sku>,
        epoch: u64,
    ) -> Instead<'a, Result<Arc<Identity>, RebuildError>> {
        Some(Box::pin(reopen(rebuilder, sku, epoch)))
    }
}

/// Instead of drain, rebuild, compare.
async fn reopen(
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
