//! What the sale did, in numbers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::case::Case;
use super::ledger::Standing;
use super::unknown;
use crate::drill::last_call::is_last_call;
use crate::history::final_state::OrderState;

/// Name under which a target file keeps the service's counter of messages delivered again.
const REDELIVERED: &str = "redelivered";

/// Counts of the whole sale. Purchases are distinct idempotency keys, attempts are clicks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub stock_units: u64,
    /// Units in live orders at rest.
    pub sold_units: u64,
    /// Those of them that were bought at the last call, after the load.
    #[serde(default)]
    pub last_call_units: u64,
    /// Units not in a live order; negative: oversold.
    pub unsold_units: i64,
    pub buy_attempts: u64,
    pub refused_attempts: u64,
    pub unknown_attempts: u64,
    /// Purchases accepted at least once.
    pub accepted: u64,
    /// Stored orders by state.
    pub created: u64,
    pub paid: u64,
    pub cancelled: u64,
    pub expired: u64,
    pub rejected: u64,
    /// Accepted purchases without an order.
    pub lost: u64,
    /// Accepted purchases that were promised stock and rejected later.
    pub broken_promises: u64,
    /// Why, by the target's names.
    pub broken_by_reason: BTreeMap<String, u64>,
    /// Accepted purchases ("queued") that ended as "nothing was promised".
    pub never_granted: u64,
    /// Purchases known by unknown outcomes only, and granted.
    pub unknown_applied: u64,
    /// Messages delivered again and recognised; None: the target has no such counter.
    pub redelivered: Option<u64>,
}

impl Tally {
    pub fn new(case: &Case<'_>) -> Self {
        let purchases = &case.purchases;
        let mut tally = Self {
            stock_units: case.supply.units(),
            buy_attempts: purchases.buys,
            refused_attempts: purchases.refused_buys,
            unknown_attempts: purchases.unknown_buys,
            unknown_applied: unknown::applied(case) as u64,
            redelivered: case
                .end()
                .counters
                .get(REDELIVERED)
                .map(|count| *count as u64),
            ..Self::default()
        };
        tally.count_orders(case);
        tally.count_accepted(case);
        tally
    }

    fn count_orders(&mut self, case: &Case<'_>) {
        for row in &case.end().orders {
            match row.state {
                OrderState::Created => self.created += 1,
                OrderState::Paid => self.paid += 1,
                OrderState::Cancelled => self.cancelled += 1,
                OrderState::Expired => self.expired += 1,
                OrderState::Rejected => self.rejected += 1,
            }
            if row.state.is_live() {
                self.sold_units += u64::from(row.quantity);
            }
        }
        let signed = |units: u64| i64::try_from(units).unwrap_or(i64::MAX);
        self.unsold_units = signed(self.stock_units) - signed(self.sold_units);
    }

    fn count_accepted(&mut self, case: &Case<'_>) {
        for (purchase, standing) in case.accepted() {
            self.accepted += 1;
            let late = is_last_call(purchase.key) && standing == Some(Standing::Live);
            self.last_call_units += u64::from(purchase.quantity) * u64::from(late);
            match standing {
                Some(Standing::Live | Standing::Released) => {}
                Some(Standing::NeverGranted) => self.never_granted += 1,
                Some(Standing::BrokenPromise) => {
                    self.broken_promises += 1;
                    let reason = case
                        .ledger
                        .rows(purchase.key)
                        .first()
                        .map(|row| row.reason.clone());
                    *self
                        .broken_by_reason
                        .entry(reason.unwrap_or_default())
                        .or_default() += 1;
                }
                None if case.is_complete() => self.lost += 1,
                None => {}
            }
        }
    }
}
