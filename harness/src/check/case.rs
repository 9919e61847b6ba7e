//! The case before the checkers: the evidence, the orders by purchase, and the condensed history.

use super::finding::Finding;
use super::ledger::{Ledger, Standing};
use super::purchases::{Purchase, Purchases};
use super::supply::{SkuSupply, Supply};
use super::{CheckId, Evidence};
use crate::drill::plan::Sku;
use crate::figures::count;
use crate::history::final_state::{OrderRow, StockRow, StoreState};

/// Doubt about a SKU of which nothing can be said.
pub const NOT_SET_UP: &str = "the store did not start with the planned stock";

/// Everything a checker may look at.
pub struct Case<'e> {
    pub evidence: &'e Evidence,
    pub ledger: Ledger<'e>,
    pub supply: Supply,
    pub purchases: Purchases,
}

/// A judge of one invariant.
pub trait Checker: Sync {
    fn id(&self) -> CheckId;
    /// What must hold, for people.
    fn title(&self) -> &'static str;
    fn judge(&self, case: &Case<'_>) -> Finding;
}

impl<'e> Case<'e> {
    pub fn new(evidence: &'e Evidence, purchases: Purchases) -> Self {
        Self {
            evidence,
            ledger: Ledger::new(evidence),
            supply: Supply::new(evidence),
            purchases,
        }
    }

    /// The SKUs of the plan and what there was of each, by index.
    pub fn skus(&self) -> impl Iterator<Item = (usize, &'e Sku, &SkuSupply)> {
        let skus = self.evidence.plan.sale.skus.iter();
        let skus = skus.zip(self.supply.skus()).enumerate();
        skus.map(|(index, (sku, supply))| (index, sku, supply))
    }

    pub fn end(&self) -> &'e StoreState {
        &self.evidence.stores.end
    }

    /// Id of a SKU by its index in the plan.
    pub fn sku(&self, index: u32) -> &'e str {
        let skus = &self.evidence.plan.sale.skus;
        skus.get(index as usize)
            .map_or("(unknown)", |sku| sku.id.as_str())
    }

    /// Accepted purchases with their standing in the store, by key.
    pub fn accepted(&self) -> Vec<(&Purchase, Option<Standing>)> {
        let all = self
            .purchases
            .sorted()
            .into_iter()
            .filter(|purchase| purchase.accepted > 0);
        all.map(|purchase| (purchase, self.ledger.purchase_standing(purchase.key)))
            .collect()
    }

    /// The final reading is complete; else every statement about what is *missing* is a guess.
    pub fn is_complete(&self) -> bool {
        self.unread().is_none()
    }

    /// What the final reading lacks. A reading without any row or queue length was never taken.
    pub fn unread(&self) -> Option<String> {
        let end = self.end();
        let nothing = end.orders.is_empty() && end.stock.is_empty() && end.cache.is_empty();
        if nothing && end.queue_backlog.is_none() && end.unread.is_empty() {
            return Some("the final reading was never taken".to_owned());
        }
        let lacks = !end.unread.is_empty();
        lacks.then(|| {
            format!(
                "the final reading is incomplete ({})",
                end.unread.join("; ")
            )
        })
    }

    pub fn is_queue_empty(&self) -> bool {
        self.end().queue_backlog == Some(0)
    }

    /// The stock row of a SKU.
    pub fn stock_row(&self, sku: &str) -> Option<&'e StockRow> {
        self.end().stock.iter().find(|row| row.sku == sku)
    }

    /// The store showed the planned stock of this SKU, untouched, before the first request.
    pub fn was_set_up(&self, sku: &str, stock: u32) -> bool {
        let mut rows = self
            .evidence
            .stores
            .start
            .stock
            .iter()
            .filter(|row| row.sku == sku);
        let planned = i64::from(stock);
        let row = rows.next();
        rows.next().is_none()
            && row.is_some_and(|row| row.total == planned && row.available == planned)
    }

    /// Records are missing from the history, so that an order may belong to an attempt it lost.
    pub fn history_gap(&self) -> Option<String> {
        if let Some(damage) = &self.evidence.damage {
            return Some(format!("the history is damaged: {damage}"));
        }
        let load = &self.evidence.load;
        let (journey_buys, last_buys) =
            (self.purchases.journey_buys, self.purchases.last_call_buys);
        let of_load = self.purchases.buys - journey_buys - last_buys;
        let last_sent = self
            .evidence
            .last_call
            .as_ref()
            .map_or(0, |one| one.load.sent);
        let journeys_sent = self.evidence.journeys.as_ref().map_or(0, |one| one.buys);
        gap("history", of_load, load.sent + load.retries.sent)
            .or_else(|| gap("history of the journeys", journey_buys, journeys_sent))
            .or_else(|| gap("history of the last call", last_buys, last_sent))
    }

    /// Says in `finding` what cannot be judged because stores were not read, or nothing was sold.
    pub fn doubt_unless_read(&self, finding: &mut Finding) {
        if let Some(unread) = self.unread() {
            finding.doubt(unread);
        }
        if self.purchases.accepted_buys == 0 && self.end().orders.is_empty() {
            finding.doubt("nothing was sold, so nothing was put to the test".to_owned());
        }
    }

    pub fn orders_of_sku(&self, sku: &str) -> impl Iterator<Item = &'e OrderRow> {
        let sku = sku.to_owned();
        self.end().orders.iter().filter(move |row| row.sku == sku)
    }
}

/// Fewer buy attempts were recorded than sent.
fn gap(history: &str, buys: u64, sent: u64) -> Option<String> {
    let [recorded, all] = [buys, sent].map(count);
    (buys < sent).then(|| format!("the {history} holds {recorded} buy attempts, {all} were sent"))
}

#[cfg(test)]
mod tests {
    use super::super::tiny_history::Tiny;
    use super::*;

    #[test]
    fn a_reading_was_taken_if_it_says_anything_at_all() {
        let unread = |state: StoreState| {
            let tiny = Tiny::sale(1).with(|e| e.stores.end = state);
            tiny.case().unread()
        };
        let never = unread(StoreState::default());
        assert_eq!(never.as_deref(), Some("the final reading was never taken"));
        let empty_queue = StoreState {
            queue_backlog: Some(0),
            ..StoreState::default()
        };
        assert_eq!(unread(empty_queue), None);
        let stock = StoreState {
            stock: vec![super::super::tiny_history::stock_row("s0", 1, 1)],
            ..StoreState::default()
        };
        assert_eq!(unread(stock), None);
        let failed = StoreState {
            unread: vec!["orders".to_owned()],
            ..StoreState::default()
        };
        let lacks = unread(failed).unwrap();
        assert!(lacks.contains("incomplete (orders)"), "{lacks}");
    }
}
