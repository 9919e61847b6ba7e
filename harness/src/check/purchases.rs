//! What the history says about each purchase that matters: accepted, stored as an order, or perhaps
//! half applied. Refusals of other purchases are only counted.

use std::collections::{HashMap, HashSet};

use super::Evidence;
use super::answers::Answers;
use super::claims::Claims;
use super::demand::Demand;
use super::gate::GateRefusals;
use super::ledger::Ledger;
use super::levels::Levels;
use super::recovery::Outages;
use super::statement::Statement;
use super::supply::Supply;
use crate::drill::last_call::is_last_call;
use crate::drill::plan::Sku;
use crate::history::final_state::OrderState;
use crate::history::operation::{Operation, OperationKind, Outcome};
use crate::journeys::is_journey;

/// Attempts kept of one purchase, for the witness; more are only counted.
const ATTEMPTS_KEPT: usize = 12;

/// All clicks and follow-ups with one idempotency key.
#[derive(Debug, Clone)]
pub struct Purchase {
    pub key: u64,
    pub user: u64,
    /// Index into the plan's SKUs.
    pub sku: u32,
    pub quantity: u32,
    /// Buy attempts seen, by outcome.
    pub accepted: u32,
    pub refused: u32,
    pub unknown: u32,
    /// Order id of the first accepted answer that gave one.
    pub order_id: Option<Box<str>>,
    /// Another order id given for the same purchase.
    pub other_order_id: Option<Box<str>>,
    /// When the first accepted answer came.
    pub accepted_ns: Option<u64>,
    pub paid_ns: Option<u64>,
    pub cancelled_ns: Option<u64>,
    /// Payments that the buyer was refused without being told that it is paid.
    pub refused_pays: u32,
    /// The same of cancellations.
    pub refused_cancels: u32,
    /// Payments or cancellations whose outcome nobody knows.
    pub unknown_changes: u32,
    /// States the buyer was told, as far as they can tell anything new.
    pub told: Vec<Statement>,
    /// The first attempts, in the order of completion.
    pub attempts: Vec<Operation>,
}

/// The history, condensed.
pub struct Purchases {
    tracked: HashMap<u64, Purchase>,
    /// (user, sku) pairs that hold units in the cache at rest.
    holders: HashSet<(u64, u32)>,
    /// Keys that have an order.
    stored: HashSet<u64>,
    /// Clicks by (user, sku) pairs that have an order.
    clicks: HashMap<(u64, u32), u32>,
    pub operations: u64,
    pub buys: u64,
    /// Those of them that belong to journeys, and to the last call.
    pub journey_buys: u64,
    pub last_call_buys: u64,
    pub accepted_buys: u64,
    pub refused_buys: u64,
    pub unknown_buys: u64,
    /// Operations that name a SKU the plan does not have.
    pub foreign: u64,
    pub demand: Demand,
    pub outages: Outages,
    pub claims: Claims,
    pub levels: Levels,
    pub gate: GateRefusals,
    answers: Answers,
}

impl Purchases {
    pub fn new(evidence: &Evidence, ledger: &Ledger<'_>) -> Self {
        let supply = Supply::new(evidence);
        Self {
            tracked: HashMap::new(),
            holders: holders(evidence),
            stored: ledger.keys().into_iter().collect(),
            clicks: buyers(evidence).map(|buyer| (buyer, 0)).collect(),
            operations: 0,
            buys: 0,
            journey_buys: 0,
            last_call_buys: 0,
            accepted_buys: 0,
            refused_buys: 0,
            unknown_buys: 0,
            foreign: 0,
            demand: Demand::new(evidence, &supply),
            outages: Outages::new(evidence),
            claims: Claims::new(&supply),
            levels: Levels::new(evidence),
            gate: GateRefusals::new(evidence),
            answers: Answers::new(evidence),
        }
    }

    pub fn observe(&mut self, operation: &Operation) {
        self.operations += 1;
        if !self.demand.knows(operation.sku) {
            self.foreign += 1;
            return;
        }
        if operation.kind == OperationKind::Buy {
            self.count_buy(operation);
        }
        if self.matters(operation) {
            self.tracked
                .entry(operation.key)
                .or_insert_with(|| Purchase::new(operation))
                .add(operation);
        }
    }

    fn count_buy(&mut self, operation: &Operation) {
        self.buys += 1;
        self.journey_buys += u64::from(is_journey(operation.key));
        self.last_call_buys += u64::from(is_last_call(operation.key));
        match operation.outcome {
            Outcome::Accepted => self.accepted_buys += 1,
            Outcome::Refused => self.refused_buys += 1,
            Outcome::Unknown => self.unknown_buys += 1,
        }
        if let Some(clicks) = self.clicks.get_mut(&(operation.user, operation.sku)) {
            *clicks += 1;
        }
        self.outages.observe(operation, &self.answers);
        self.demand.observe(operation, &self.answers);
        self.claims.observe(operation, &self.answers);
        self.levels.observe(operation, &self.answers);
        self.gate.observe(operation);
    }

    /// A purchase is kept when it was accepted, has an order, or may have left units in the cache.
    fn matters(&self, operation: &Operation) -> bool {
        operation.outcome == Outcome::Accepted
            || self.stored.contains(&operation.key)
            || self.tracked.contains_key(&operation.key)
            || (operation.outcome == Outcome::Unknown
                && self.holders.contains(&(operation.user, operation.sku)))
    }

    pub fn get(&self, key: u64) -> Option<&Purchase> {
        self.tracked.get(&key)
    }

    /// The purchases kept, by key ascending.
    pub fn sorted(&self) -> Vec<&Purchase> {
        let mut all: Vec<&Purchase> = self.tracked.values().collect();
        all.sort_unstable_by_key(|purchase| purchase.key);
        all
    }

    /// Buyers with an order whose clicks, had all been granted, exceed the limit.
    pub fn buyers_over_limit(&self, quantity: u32, limit: u32) -> usize {
        let units = |clicks: &u32| u64::from(*clicks) * u64::from(quantity);
        self.clicks
            .values()
            .filter(|clicks| units(clicks) > u64::from(limit))
            .count()
    }
}

impl Purchase {
    fn new(operation: &Operation) -> Self {
        Self {
            key: operation.key,
            user: operation.user,
            sku: operation.sku,
            quantity: operation.quantity,
            accepted: 0,
            refused: 0,
            unknown: 0,
            order_id: None,
            other_order_id: None,
            accepted_ns: None,
            paid_ns: None,
            cancelled_ns: None,
            refused_pays: 0,
            refused_cancels: 0,
            unknown_changes: 0,
            told: Vec::new(),
            attempts: Vec::new(),
        }
    }

    fn add(&mut self, operation: &Operation) {
        if self.attempts.len() < ATTEMPTS_KEPT {
            self.attempts.push(operation.clone());
        }
        if let Some(statement) = Statement::of(operation) {
            statement.join(&mut self.told);
        }
        match operation.kind {
            OperationKind::Buy => self.add_buy(operation),
            OperationKind::Pay => self.add_change(operation, OrderState::Paid),
            OperationKind::Cancel => self.add_change(operation, OrderState::Cancelled),
            OperationKind::Status => {}
        }
    }

    /// A payment or a cancellation.
    fn add_change(&mut self, operation: &Operation, to: OrderState) {
        let (done_ns, refused) = match to {
            OrderState::Paid => (&mut self.paid_ns, &mut self.refused_pays),
            _ => (&mut self.cancelled_ns, &mut self.refused_cancels),
        };
        match operation.outcome {
            Outcome::Accepted => keep_first(done_ns, operation),
            Outcome::Unknown => self.unknown_changes += 1,
            // It had happened before, and the buyer was told so.
            Outcome::Refused if operation.told == Some(to) => {}
            Outcome::Refused => *refused += 1,
        }
    }

    fn add_buy(&mut self, operation: &Operation) {
        match operation.outcome {
            Outcome::Refused => self.refused += 1,
            Outcome::Unknown => self.unknown += 1,
            Outcome::Accepted => {
                self.accepted += 1;
                keep_first(&mut self.accepted_ns, operation);
                self.add_order_id(operation);
            }
        }
    }

    fn add_order_id(&mut self, operation: &Operation) {
        match (&self.order_id, &operation.order_id) {
            (_, None) => {}
            (None, Some(given)) => self.order_id = Some(given.clone()),
            (Some(known), Some(given)) if known == given => {}
            (Some(_), Some(given)) => self.other_order_id = Some(given.clone()),
        }
    }

    /// Clicks on "buy".
    pub fn clicks(&self) -> u32 {
        self.accepted + self.refused + self.unknown
    }

    /// The service may have applied it: not only provably refused.
    pub fn may_be_applied(&self) -> bool {
        self.accepted > 0 || self.unknown > 0
    }
}

fn keep_first(slot: &mut Option<u64>, operation: &Operation) {
    slot.get_or_insert(operation.completed_ns);
}

/// The number behind `user_id`.
fn user_number(text: &str) -> Option<u64> {
    text.strip_prefix('u')?.parse().ok()
}

fn sku_index(skus: &[Sku], id: &str) -> Option<u32> {
    let at = skus.iter().position(|sku| sku.id == id)?;
    u32::try_from(at).ok()
}

fn holders(evidence: &Evidence) -> HashSet<(u64, u32)> {
    let skus = &evidence.plan.sale.skus;
    let mut out = HashSet::new();
    for row in &evidence.stores.end.cache {
        let Some(sku) = sku_index(skus, &row.sku) else {
            continue;
        };
        let users = row.held.keys().filter_map(|user| user_number(user));
        out.extend(users.map(|user| (user, sku)));
    }
    out
}

fn buyers(evidence: &Evidence) -> impl Iterator<Item = (u64, u32)> {
    let skus = &evidence.plan.sale.skus;
    let rows = evidence.stores.end.orders.iter();
    rows.filter_map(|row| Some((user_number(&row.user)?, sku_index(skus, &row.sku)?)))
}

#[cfg(test)]
mod tests {
    use super::super::tiny_history::Tiny;
    use super::*;

    #[test]
    fn many_clicks_of_one_purchase_are_counted_and_some_of_them_kept() {
        let clicks = ATTEMPTS_KEPT as u64 + 3;
        let tiny = (0..clicks).fold(Tiny::sale(1), |tiny, _| tiny.accepted(1));
        let case = tiny.case();
        let purchase = case.purchases.get(1).unwrap();
        assert_eq!(u64::from(purchase.accepted), clicks);
        assert_eq!(purchase.attempts.len(), ATTEMPTS_KEPT);
    }
}
