//! The orders of the durable store, arranged by the purchase they belong to.

use std::collections::HashMap;

use super::Evidence;
use crate::drill::plan::Plan;
use crate::history::final_state::{OrderRow, OrderState};
use crate::load::population::key_of;

/// What a stored order means for the stock and the promise made to the buyer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// Rejected, and no stock had been promised.
    NeverGranted,
    /// Accepted, stock promised, then rejected.
    BrokenPromise,
    /// Cancelled or expired: stock and the right to buy were given back.
    Released,
    /// Holds stock.
    Live,
}

/// Orders by purchase.
pub struct Ledger<'e> {
    plan: &'e Plan,
    rows: HashMap<u64, Vec<&'e OrderRow>>,
    /// Orders whose request id is none of this run's.
    pub strangers: Vec<&'e OrderRow>,
    /// Live units by SKU, and by buyer and SKU.
    live: HashMap<&'e str, i64>,
    live_of: HashMap<(&'e str, &'e str), i64>,
}

impl<'e> Ledger<'e> {
    pub fn new(evidence: &'e Evidence) -> Self {
        let mut ledger = Self {
            plan: &evidence.plan,
            rows: HashMap::new(),
            strangers: Vec::new(),
            live: HashMap::new(),
            live_of: HashMap::new(),
        };
        for row in &evidence.stores.end.orders {
            ledger.add_live(row);
            match key_of(evidence.plan.seed, &row.request_id) {
                Some(key) => ledger.rows.entry(key).or_default().push(row),
                None => ledger.strangers.push(row),
            }
        }
        ledger
    }

    fn add_live(&mut self, row: &'e OrderRow) {
        if row.state.is_live() {
            let units = i64::from(row.quantity);
            *self.live.entry(&row.sku).or_default() += units;
            *self.live_of.entry((&row.user, &row.sku)).or_default() += units;
        }
    }

    /// Live units of a SKU.
    pub fn live_units(&self, sku: &str) -> i64 {
        self.live.get(sku).copied().unwrap_or(0)
    }

    /// Live units of a SKU that one buyer holds.
    pub fn live_units_of(&self, user: &str, sku: &str) -> i64 {
        self.live_of.get(&(user, sku)).copied().unwrap_or(0)
    }

    /// The orders of one purchase; there should be one at most.
    pub fn rows(&self, key: u64) -> &[&'e OrderRow] {
        self.rows.get(&key).map_or(&[], Vec::as_slice)
    }

    /// Keys that have an order, ascending, so that witnesses are the same in every judging.
    pub fn keys(&self) -> Vec<u64> {
        let mut keys: Vec<u64> = self.rows.keys().copied().collect();
        keys.sort_unstable();
        keys
    }

    pub fn standing(&self, row: &OrderRow) -> Standing {
        match row.state {
            OrderState::Created | OrderState::Paid => Standing::Live,
            OrderState::Cancelled | OrderState::Expired => Standing::Released,
            OrderState::Rejected => {
                let reasons = &self.plan.target.state.never_granted_reasons;
                if reasons.contains(&row.reason) {
                    Standing::NeverGranted
                } else {
                    Standing::BrokenPromise
                }
            }
        }
    }

    /// How the purchase stands: the strongest of its orders; None: it has no order.
    pub fn purchase_standing(&self, key: u64) -> Option<Standing> {
        self.rows(key).iter().map(|row| self.standing(row)).max()
    }
}
