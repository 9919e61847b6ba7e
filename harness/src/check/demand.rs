//! How much the buyers wanted, per SKU: enough to tell whether a sale should have sold out.

use std::collections::{HashMap, HashSet};

use super::Evidence;
use crate::history::operation::{Operation, Outcome};

/// Demand that the service had its chance to serve. Memory is bounded by the stock: counting stops once
/// the demand reaches it.
pub struct Demand {
    /// By index into the history's reasons: the sale was not open to the buyer.
    is_outside: Vec<bool>,
    limit: u64,
    skus: Vec<SkuDemand>,
}

/// Of one SKU.
#[derive(Debug, Default)]
pub struct SkuDemand {
    stock: u64,
    /// Units wanted, each user's only up to the limit, at most `stock` and a purchase.
    units: u64,
    /// When the last buy request that got a decision was sent.
    pub last_sent_ns: u64,
    keys: HashSet<u64>,
    by_user: HashMap<u64, u64>,
}

impl Demand {
    pub fn new(evidence: &Evidence) -> Self {
        let sale = &evidence.plan.sale;
        let rules = &evidence.plan.target.answers;
        let outside = |reason: &String| {
            rules
                .iter()
                .any(|rule| rule.outside_sale && rule.reason == *reason)
        };
        let of = |stock: u32| SkuDemand {
            stock: stock.into(),
            ..SkuDemand::default()
        };
        Self {
            is_outside: evidence.reasons.iter().map(outside).collect(),
            limit: sale.limit_per_user.into(),
            skus: sale.skus.iter().map(|sku| of(sku.stock)).collect(),
        }
    }

    /// The plan has a SKU of this index.
    pub fn knows(&self, sku: u32) -> bool {
        (sku as usize) < self.skus.len()
    }

    /// Counts a buy that got a decision. One that met an outage, whose outcome is unknown, or that came
    /// before the opening or after the end, gave the service no fair chance to sell and is no demand.
    pub fn observe(&mut self, operation: &Operation, outage: bool) {
        if outage || operation.outcome == Outcome::Unknown || self.is_outside(operation) {
            return;
        }
        if let Some(sku) = self.skus.get_mut(operation.sku as usize) {
            sku.add(operation, self.limit);
        }
    }

    fn is_outside(&self, operation: &Operation) -> bool {
        let outside = self.is_outside.get(usize::from(operation.reason));
        operation.outcome == Outcome::Refused && outside.copied().unwrap_or(false)
    }

    pub fn sku(&self, index: usize) -> Option<&SkuDemand> {
        self.skus.get(index)
    }
}

impl SkuDemand {
    fn add(&mut self, operation: &Operation, limit: u64) {
        self.last_sent_ns = self.last_sent_ns.max(operation.sent_ns);
        if self.reaches_stock() || self.keys.contains(&operation.key) {
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

    pub fn reaches_stock(&self) -> bool {
        self.units >= self.stock
    }

    /// Units wanted; not more than needed to see that they reach the stock.
    pub fn units(&self) -> u64 {
        self.units
    }
}
