//! "Sold out", as buyers were told, against what can have been taken by then.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::answers::Answers;
use super::supply::{SkuSupply, Supply};
use crate::history::operation::{Operation, Outcome};

/// Of every SKU. Memory is bounded by the units there were.
pub struct Claims {
    skus: Vec<SkuClaims>,
}

/// The first buyer who was told that nothing is left, of those who found the same units put on sale, and the earliest
/// requests that may have taken units: later claims are easier to justify, since what may have been taken only grows.
#[derive(Debug, Default)]
pub struct SkuClaims {
    supply: SkuSupply,
    /// By the time of the answer; by how many top-ups they surely found.
    first: BTreeMap<usize, Operation>,
    /// (sent, key, units) of purchases that may have been applied, or held a unit for a moment.
    taken: BTreeSet<(u64, u64, u32)>,
    sent_of: HashMap<u64, u64>,
}

impl Claims {
    pub fn new(supply: &Supply) -> Self {
        let of = |supply: &SkuSupply| SkuClaims {
            supply: supply.clone(),
            ..SkuClaims::default()
        };
        Self {
            skus: supply.skus().iter().map(of).collect(),
        }
    }

    /// Notes a buy.
    pub fn observe(&mut self, operation: &Operation, answers: &Answers) {
        let Some(sku) = self.skus.get_mut(operation.sku as usize) else {
            return;
        };
        if answers.is_sold_out(operation) {
            sku.claim(operation);
        } else if operation.outcome == Outcome::Accepted || answers.is_outage(operation) {
            sku.take(operation);
        }
    }

    pub fn sku(&self, index: usize) -> Option<&SkuClaims> {
        self.skus.get(index)
    }
}

impl SkuClaims {
    fn claim(&mut self, operation: &Operation) {
        let top_ups = self.supply.top_ups(operation.sent_ns);
        let first = self.first.get(&top_ups);
        if first.is_none_or(|first| operation.completed_ns < first.completed_ns) {
            self.first.insert(top_ups, operation.clone());
        }
    }

    /// Those that are hardest to justify.
    pub fn first(&self) -> impl Iterator<Item = &Operation> {
        self.first.values()
    }

    fn take(&mut self, operation: &Operation) {
        let (key, units, sent_ns) = (operation.key, operation.quantity, operation.sent_ns);
        let known = self.sent_of.get(&key).copied();
        if known.is_some_and(|before| before <= sent_ns) {
            return;
        }
        if let Some(before) = known {
            self.taken.remove(&(before, key, units));
        }
        self.taken.insert((sent_ns, key, units));
        self.sent_of.insert(key, sent_ns);
        // Each takes a unit at least, so the earliest of them are enough.
        if self.taken.len() as u64 > self.supply.units
            && let Some((_, last, _)) = self.taken.pop_last()
        {
            self.sent_of.remove(&last);
        }
    }

    /// Units that can have been taken when this was answered, as far as there were so many.
    pub fn taken_by(&self, claim: &Operation) -> u64 {
        let before = self
            .taken
            .iter()
            .take_while(|(sent_ns, ..)| *sent_ns < claim.completed_ns);
        before.map(|(.., units)| u64::from(*units)).sum()
    }
}
