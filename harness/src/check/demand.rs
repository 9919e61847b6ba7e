//! How much the buyers wanted, per SKU: enough to tell whether a sale should have sold out.

use std::collections::{HashMap, HashSet};

use super::Evidence;
use super::answers::Answers;
use super::supply::{SkuSupply, Supply};
use crate::history::operation::{Operation, Outcome};

/// Demand that the service had its chance to serve. Memory is bounded by the units there were: counting stops once
/// the demand reaches them.
pub struct Demand {
    limit: u64,
    skus: Vec<SkuDemand>,
}

/// Of one SKU.
#[derive(Debug, Default)]
pub struct SkuDemand {
    supply: SkuSupply,
    /// Units wanted, each user's only up to the limit, at most all there were and a purchase.
    units: u64,
    /// When the last buy request that got a decision was sent.
    pub last_sent_ns: u64,
    keys: HashSet<u64>,
    by_user: HashMap<u64, u64>,
}

impl Demand {
    pub fn new(evidence: &Evidence, supply: &Supply) -> Self {
        let of = |supply: &SkuSupply| SkuDemand {
            supply: supply.clone(),
            ..SkuDemand::default()
        };
        Self {
            limit: evidence.plan.sale.limit_per_user.into(),
            skus: supply.skus().iter().map(of).collect(),
        }
    }

    /// The plan has a SKU of this index.
    pub fn knows(&self, sku: u32) -> bool {
        (sku as usize) < self.skus.len()
    }

    /// Counts a buy that got a decision. One that met an outage, whose outcome is unknown, or that came
    /// before the opening or after the end, gave the service no fair chance to sell and is no demand.
    pub fn observe(&mut self, operation: &Operation, answers: &Answers) {
        if answers.is_outage(operation) || answers.is_outside_sale(operation) {
            return;
        }
        if let Some(sku) = self.skus.get_mut(operation.sku as usize) {
            sku.add(operation, self.limit);
        }
    }

    pub fn sku(&self, index: usize) -> Option<&SkuDemand> {
        self.skus.get(index)
    }
}

impl SkuDemand {
    fn add(&mut self, operation: &Operation, limit: u64) {
        self.last_sent_ns = self.last_sent_ns.max(operation.sent_ns);
        if self.reaches_supply() || self.keys.contains(&operation.key) {
            return;
        }
        // Who was sent away before the last units came does not want those.
        let units_came_later = self.supply.on_sale(operation.sent_ns) < self.supply.units;
        if operation.outcome == Outcome::Refused && units_came_later {
            return;
        }
        let wanted = u64::from(operation.quantity);
        let held = self.by_user.entry(operation.user).or_default();
        if *held + wanted <= limit {
            *held += wanted;
            self.units += wanted;
            self.keys.insert(operation.key);
        }
    }

    pub fn reaches_supply(&self) -> bool {
        self.units >= self.supply.units
    }

    /// Units wanted; not more than needed to see that they are enough.
    pub fn units(&self) -> u64 {
        self.units
    }
}
