use std::sync::Arc;

use super::Mutant;
use crate::parts::{Instead, Parts};
use crate::reconcile::rebuild::{RebuildError, Rebuilder};
use crate::sale::sku::Sku;
use crate::stock::identity::Identity;

pub const MUTANT: Mutant = Mutant {
    name: "rebuild-ignores-in-flight",
    breaks: "Redis is overwritten with the stock of MySQL while orders are on their way there.",
    kind: "K11",
    control: "RD-6",
    part: "rebuild step",
    parts: &RebuildIgnoresInFlight,
};

struct RebuildIgnoresInFlight;

impl Parts for RebuildIgnoresInFlight {
    fn rebuild<'a>(
        &self,
        rebuilder: &'a Rebuilder,
        sku: &'a Arc<Sku>,
        epoch: u64,
    ) -> Instead<'a, Result<Arc<Identity>, RebuildError>> {
        Some(Box::pin(async move {
            rebuilder.stock.fence(sku, epoch).await?;
            rebuilder.rebuild(sku, epoch).await
        }))
    }
}
