//! What there was to sell, per SKU: what was planned, and what top-ups added while it was sold.
//!
//! A top-up that was not answered has added its units or not: the store's total at rest tells. It does not tell when, so
//! they never count as surely on sale.

use std::collections::BTreeSet;
use std::fmt;

use super::Evidence;
use crate::drill::plan::Sku;
use crate::drill::top_up::{TopUpEvent, TopUpOutcome};
use crate::figures::count;

/// A send is stamped so late at most: a request may be older than an answer that came before its stamp.
const STAMP_LATE_NS: u64 = 1_000_000;

/// Of every SKU of the plan.
pub struct Supply {
    skus: Vec<SkuSupply>,
}

/// Of one SKU.
#[derive(Debug, Clone, Default)]
pub struct SkuSupply {
    planned: u64,
    additions: Vec<Addition>,
    /// All that there came to be.
    pub units: u64,
}

/// A top-up that was not refused.
#[derive(Debug, Clone)]
struct Addition {
    units: u64,
    /// Nobody can have bought them before.
    asked_ns: u64,
    /// Requests sent from then on find them; None: nobody knows.
    on_sale_ns: Option<u64>,
}

impl Supply {
    pub fn new(evidence: &Evidence) -> Self {
        let skus = evidence.plan.sale.skus.iter();
        Self {
            skus: skus.map(|sku| SkuSupply::new(evidence, sku)).collect(),
        }
    }

    /// In the order of the plan.
    pub fn skus(&self) -> &[SkuSupply] {
        &self.skus
    }

    /// All that there came to be, of all SKUs together.
    pub fn units(&self) -> u64 {
        self.skus.iter().map(|sku| sku.units).sum()
    }
}

impl SkuSupply {
    fn new(evidence: &Evidence, sku: &Sku) -> Self {
        let planned = evidence.plan.sale.top_ups.iter();
        let events = evidence.top_ups.iter().map(Some);
        let events = planned.zip(events.chain(std::iter::repeat(None)));
        let of_sku = events.filter(|(planned, _)| planned.sku == sku.id);
        let additions =
            of_sku.filter_map(|(planned, event)| Addition::of(planned.units.into(), event));
        let mut supply = Self {
            planned: sku.stock.into(),
            additions: additions.collect(),
            units: 0,
        };
        supply.units = supply.at_rest(evidence, &sku.id);
        supply
    }

    /// What is sure, and of what is not what the store's total shows: any of it, while that was not read.
    fn at_rest(&self, evidence: &Evidence, sku: &str) -> u64 {
        let sure = self.on_sale(u64::MAX);
        let unsure = self.additions.iter();
        let unsure = unsure.filter(|one| one.on_sale_ns.is_none());
        let totals = unsure.fold(BTreeSet::from([sure]), |totals, one| {
            let with_it = totals.iter().map(|total| total + one.units);
            with_it.chain(totals.iter().copied()).collect()
        });
        let mut rows = evidence.stores.end.stock.iter();
        match rows.find(|row| row.sku == sku) {
            None => totals.last().copied().unwrap_or(sure),
            Some(row) => u64::try_from(row.total)
                .ok()
                .filter(|total| totals.contains(total))
                .unwrap_or(sure),
        }
    }

    /// All that there came to be, to be set against what the store says.
    pub fn units_signed(&self) -> i64 {
        i64::try_from(self.units).unwrap_or(i64::MAX)
    }

    /// Units that a request sent then surely found put on sale.
    pub fn on_sale(&self, sent_ns: u64) -> u64 {
        let found = self.found(sent_ns);
        self.planned + found.map(|one| one.units).sum::<u64>()
    }

    /// How many top-ups it surely found.
    pub fn top_ups(&self, sent_ns: u64) -> usize {
        self.found(sent_ns).count()
    }

    fn found(&self, sent_ns: u64) -> impl Iterator<Item = &Addition> {
        let is_found = move |at: u64| at <= sent_ns;
        self.additions
            .iter()
            .filter(move |one| one.on_sale_ns.is_some_and(is_found))
    }

    /// Units that can have been promised by then.
    pub fn most_by(&self, ns: u64) -> u64 {
        let asked = self.additions.iter().filter(|one| one.asked_ns <= ns);
        let most = self.planned + asked.map(|one| one.units).sum::<u64>();
        most.min(self.units)
    }
}

impl Addition {
    /// None: nothing was added. Of a top-up without an event nothing is known at all.
    fn of(units: u64, event: Option<&TopUpEvent>) -> Option<Self> {
        let on_sale_ns = match event.map(|event| &event.outcome) {
            Some(TopUpOutcome::Refused { .. }) => return None,
            Some(TopUpOutcome::OnSale { answered_ns }) => Some(answered_ns + STAMP_LATE_NS),
            Some(TopUpOutcome::Unknown { .. }) | None => None,
        };
        Some(Self {
            units,
            asked_ns: event.and_then(|event| event.sent_ns).unwrap_or_default(),
            on_sale_ns,
        })
    }
}

impl fmt::Display for SkuSupply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} units were put on sale", count(self.planned))?;
        match self.units - self.planned {
            0 => Ok(()),
            added => write!(f, " and {} added", count(added)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tiny_history::Tiny;
    use super::*;

    fn unknown(tiny: Tiny) -> Tiny {
        tiny.but_top_up(TopUpOutcome::Unknown { why: "503".into() })
    }

    /// What there was of the only SKU when the store's total at rest is this; None: it was not read.
    fn with_total(tiny: Tiny, total: Option<i64>) -> SkuSupply {
        let tiny = tiny.with(|e| match total {
            Some(total) => e.stores.end.stock[0].total = total,
            None => e.stores.end.stock.clear(),
        });
        Supply::new(&tiny.evidence).skus()[0].clone()
    }

    #[test]
    fn units_count_from_the_answer_on_and_can_be_taken_from_the_call_on() {
        // The buyers come at 0 ms and at 10 ms; the top-up is asked for at 2 ms and answered at 7 ms.
        let tiny = Tiny::sale(2).bought(1).top_up(3).bought(2);
        let supply = with_total(tiny, Some(5));
        let sure = [0, 7_000_000, 7_999_999, 8_000_000].map(|at| supply.on_sale(at));
        assert_eq!(sure, [2, 2, 2, 5]);
        let most = [0, 1_999_999, 2_000_000, u64::MAX].map(|at| supply.most_by(at));
        assert_eq!(most, [2, 2, 5, 5]);
        assert_eq!(supply.units, 5);
        assert_eq!(supply.to_string(), "2 units were put on sale and 3 added");
    }

    #[test]
    fn what_nobody_answered_is_read_from_the_total_at_rest() {
        let two = || {
            unknown(
                unknown(Tiny::sale(2).bought(1).top_up(3))
                    .top_up(10)
                    .bought(2),
            )
        };
        for (total, units) in [(2, 2), (5, 5), (12, 12), (15, 15), (4, 2), (-1, 2)] {
            assert_eq!(with_total(two(), Some(total)).units, units, "{total}");
        }
        let unread = with_total(two(), None);
        assert_eq!((unread.units, unread.on_sale(u64::MAX)), (15, 2));
    }

    #[test]
    fn a_lost_event_is_no_answer_and_a_no_adds_nothing() {
        let topped_up = || Tiny::sale(2).bought(1).top_up(3).bought(2);
        for (total, units) in [(2, 2), (5, 5)] {
            let lost = topped_up().with(|e| e.top_ups.clear());
            assert_eq!(with_total(lost, Some(total)).units, units);
        }
        let refused = topped_up().but_top_up(TopUpOutcome::Refused { why: "409".into() });
        let supply = with_total(refused, Some(5));
        assert_eq!((supply.units, supply.most_by(u64::MAX)), (2, 2));
    }
}
