//! S1: the durable store sold no more than there was, and its ledger adds up.

use super::case::{Case, Checker, NOT_SET_UP};
use super::finding::Finding;
use super::supply::SkuSupply;
use super::witness::order;
use super::{CheckId, Witness};
use crate::drill::plan::Sku;
use crate::figures::{count, signed};
use crate::history::words::at;

/// Orders shown of a SKU that was sold beyond its stock.
const ORDERS_SHOWN: usize = 3;

pub struct OrderOversell;

impl Checker for OrderOversell {
    fn id(&self) -> CheckId {
        CheckId::S1
    }

    fn title(&self) -> &'static str {
        "No order oversell: live orders fit the stock, and stock left plus live orders is the stock"
    }

    fn judge(&self, case: &Case<'_>) -> Finding {
        let mut finding = Finding::default();
        case.doubt_unless_read(&mut finding);
        for (_, sku, supply) in case.skus() {
            judge_sku(case, sku, supply, &mut finding);
        }
        judge_foreign(case, &mut finding);
        judge_samples(case, &mut finding);
        let live: i64 = case
            .evidence
            .plan
            .sale
            .skus
            .iter()
            .map(|s| case.ledger.live_units(&s.id))
            .sum();
        let (live, units) = (signed(live), count(case.supply.units()));
        finding.fact(format!("{live} units in live orders of {units} on sale"));
        finding
    }
}

fn judge_sku(case: &Case<'_>, sku: &Sku, supply: &SkuSupply, finding: &mut Finding) {
    let live = case.ledger.live_units(&sku.id);
    let set_up = case.was_set_up(&sku.id, sku.stock);
    let allowed = allowed(case, sku, supply);
    if live > allowed {
        let beyond = (live - allowed).unsigned_abs();
        finding.violation_of(beyond, "SKU sold beyond its stock", || {
            oversold(case, sku, supply, live)
        });
    }
    if !set_up {
        finding.doubt_about(&sku.id, NOT_SET_UP);
        return;
    }
    if !case.is_complete() {
        return;
    }
    let units = supply.units_signed();
    let witness = |found: String| ledger_witness(sku, supply, live, found);
    match case.stock_row(&sku.id) {
        None => finding.violation("stock row gone from the store", || {
            witness("at rest: the store has no stock row for it".to_owned())
        }),
        Some(row) => {
            let text = format!("at rest: total {}, available {}", row.total, row.available);
            if row.available < 0 {
                finding.violation("stock below zero", || witness(text.clone()));
            }
            if row.total != units || row.available + live != units {
                finding.violation("ledger break", || witness(text));
            }
        }
    }
    let rows = case
        .end()
        .stock
        .iter()
        .filter(|row| row.sku == sku.id)
        .count();
    if rows > 1 {
        finding.violation("SKU with several stock rows", || {
            witness(format!("at rest: {rows} stock rows"))
        });
    }
}

/// Units that may be live: all there were, and what the store started with beyond its plan.
fn allowed(case: &Case<'_>, sku: &Sku, supply: &SkuSupply) -> i64 {
    let start = case.evidence.stores.start.stock.iter();
    let start = start.filter(|row| row.sku == sku.id);
    let beyond = start.map(|row| row.total - i64::from(sku.stock)).max();
    supply
        .units_signed()
        .saturating_add(beyond.unwrap_or(0).max(0))
}

/// Live orders for something that was never on sale: its stock is zero.
fn judge_foreign(case: &Case<'_>, finding: &mut Finding) {
    let skus = &case.evidence.plan.sale.skus;
    let live = case.end().orders.iter().filter(|row| row.state.is_live());
    for row in live.filter(|row| skus.iter().all(|sku| sku.id != row.sku)) {
        finding.violation("live order for a SKU that is not on sale", || Witness {
            subject: format!("SKU {}", row.sku),
            events: vec![format!("at rest: the store holds {}", order(row))],
        });
    }
}

fn judge_samples(case: &Case<'_>, finding: &mut Finding) {
    let below = |min: Option<i64>| min.is_some_and(|min| min < 0);
    let Some(sample) = case
        .evidence
        .samples
        .iter()
        .find(|s| below(s.store_available_min))
    else {
        return;
    };
    let since_start_ns = u64::try_from(sample.at_ms).unwrap_or(0) * 1_000_000;
    finding.violation("stock below zero during the sale", || Witness {
        subject: "stock of the store".to_owned(),
        events: vec![format!(
            "{} a SKU had {} units available",
            at(since_start_ns),
            sample.store_available_min.unwrap_or_default()
        )],
    });
}

fn oversold(case: &Case<'_>, sku: &Sku, supply: &SkuSupply, live: i64) -> Witness {
    let mut events = vec![supply.to_string()];
    events.push(format!("at rest: live orders hold {live} units"));
    let live_rows = case
        .orders_of_sku(&sku.id)
        .filter(|row| row.state.is_live());
    events.extend(
        live_rows
            .take(ORDERS_SHOWN)
            .map(|row| format!("one of them: {}", order(row))),
    );
    Witness {
        subject: format!("SKU {}", sku.id),
        events,
    }
}

fn ledger_witness(sku: &Sku, supply: &SkuSupply, live: i64, found: String) -> Witness {
    let sum = format!(
        "live orders hold {live} units: stock left and live must make {}",
        supply.units
    );
    Witness {
        subject: format!("SKU {}", sku.id),
        events: vec![supply.to_string(), found, sum],
    }
}

#[cfg(test)]
mod tests {
    use super::super::Place;
    use super::super::Verdict::{Fail, Inconclusive, Pass};
    use super::super::tiny_history::{Tiny, assert_verdicts, stock_row, unread};
    use super::*;
    use crate::drill::top_up::TopUpOutcome;
    use crate::history::final_state::OrderState::{Cancelled, Created, Expired, Paid};
    use crate::observe::Sample;

    /// Three of two units and two more are sold.
    fn topped_up() -> Tiny {
        let first = Tiny::sale(2).bought(1).bought(2).refused(3, "sold_out");
        first.top_up(2).bought(4)
    }

    #[test]
    fn units_that_came_during_the_sale_count() {
        let ended = |tiny: Tiny, outcome: TopUpOutcome| tiny.but_top_up(outcome);
        let why = || "no answer".to_owned();
        let unknown = || ended(topped_up(), TopUpOutcome::Unknown { why: why() });
        let refused = || ended(topped_up(), TopUpOutcome::Refused { why: why() });
        let stock = |tiny: Tiny, total, available| {
            tiny.with(|e| e.stores.end.stock[0] = stock_row("s0", total, available))
        };
        assert_verdicts(
            CheckId::S1,
            vec![
                ("one left of them", topped_up(), Pass),
                ("none left", topped_up().bought(5), Pass),
                ("one beyond them", topped_up().bought(5).bought(6), Fail),
                (
                    "told that they are there, and they are not",
                    stock(Tiny::sale(2).bought(1).top_up(2).bought(2), 2, 0),
                    Fail,
                ),
                ("half of them came", stock(topped_up(), 3, 0), Fail),
                ("added twice", stock(topped_up(), 6, 3), Fail),
                ("not in the total", stock(topped_up(), 2, 1), Fail),
                ("nobody knows, and they came", unknown(), Pass),
                (
                    "nobody knows, and they did not",
                    stock(unknown().without_order(4), 2, 0),
                    Pass,
                ),
                (
                    "nobody knows, and half of them came",
                    stock(unknown(), 3, 0),
                    Fail,
                ),
                ("refused, and sold", refused(), Fail),
                (
                    "refused, and added",
                    stock(refused().without_order(4), 4, 2),
                    Fail,
                ),
                (
                    "refused, and nothing added",
                    refused().without_order(4),
                    Pass,
                ),
            ],
        );
        let missing = stock(topped_up(), 3, 0).check(CheckId::S1);
        let events = &missing.witnesses[0].witness.events;
        assert_eq!(events[0], "2 units were put on sale and 2 added");
        assert!(events[2].ends_with("must make 4"), "{events:#?}");
    }

    #[test]
    fn sold_within_the_stock_passes() {
        assert_verdicts(
            CheckId::S1,
            vec![
                ("some stock left", Tiny::sale(3).bought(1).bought(2), Pass),
                (
                    "sold out",
                    Tiny::sale(1).bought(1).refused(2, "sold_out"),
                    Pass,
                ),
                (
                    "paid orders hold stock",
                    Tiny::sale(1).accepted(1).order(1, Paid),
                    Pass,
                ),
                (
                    "cancelled, expired and rejected orders hold none",
                    Tiny::sale(1)
                        .order(1, Cancelled)
                        .order(2, Expired)
                        .rejected(3, "stock_exhausted")
                        .bought(4),
                    Pass,
                ),
                (
                    "nothing left during the sale",
                    Tiny::sale(1).bought(1).with(|e| {
                        e.samples.push(Sample {
                            store_available_min: Some(0),
                            ..Sample::default()
                        });
                    }),
                    Pass,
                ),
                (
                    "every SKU has its own stock",
                    Tiny::sale(1).sku(5).bought(1),
                    Pass,
                ),
            ],
        );
    }

    #[test]
    fn oversell_and_ledger_breaks_fail() {
        let sold = |stock| Tiny::sale(stock).bought(1).bought(2);
        let set_left =
            |left| move |e: &mut super::super::Evidence| e.stores.end.stock[0].available = left;
        assert_verdicts(
            CheckId::S1,
            vec![
                ("more live than stock", sold(1), Fail),
                (
                    "oversold although available says 0",
                    sold(1).with(set_left(0)),
                    Fail,
                ),
                ("a unit vanished", sold(3).with(set_left(0)), Fail),
                ("a unit appeared", sold(3).with(set_left(2)), Fail),
                ("stock below zero", sold(2).with(set_left(-1)), Fail),
                (
                    "another SKU's spare stock does not help",
                    sold(1).sku(9),
                    Fail,
                ),
                (
                    "stock row gone",
                    sold(2).with(|e| e.stores.end.stock.clear()),
                    Fail,
                ),
                (
                    "total changed",
                    sold(2).with(|e| e.stores.end.stock[0].total = 3),
                    Fail,
                ),
                (
                    "stock row twice",
                    sold(2).with(|e| e.stores.end.stock.push(e.stores.end.stock[0].clone())),
                    Fail,
                ),
                (
                    "live order for a SKU that is not on sale",
                    sold(2)
                        .order(3, Created)
                        .but_order(|row| row.sku = "s9".to_owned()),
                    Fail,
                ),
                (
                    "below zero during the sale only",
                    sold(2).with(|e| {
                        e.samples.push(Sample {
                            store_available_min: Some(-1),
                            ..Sample::default()
                        });
                    }),
                    Fail,
                ),
            ],
        );
    }

    #[test]
    fn a_witness_of_an_oversell_shows_orders_of_that_sku() {
        let sold = Tiny::sale(1).sku(1).bought(1).bought(2);
        let events = sold.check(CheckId::S1).witnesses[0]
            .witness
            .events
            .join("\n");
        assert!(
            events.contains("order o1") && events.contains("order o2"),
            "{events}"
        );
    }

    #[test]
    fn the_worst_is_the_sku_that_was_oversold_by_most_units() {
        let order = |tiny: Tiny, key, sku: &str, units| {
            tiny.order(key, Created).but_order(|row| {
                row.sku = sku.to_owned();
                row.quantity = units;
            })
        };
        let sold = order(Tiny::sale(5).sku(1).sku(1), 1, "s0", 6);
        let sold = order(order(sold, 2, "s1", 3), 3, "s2", 2);
        let result = sold.check(CheckId::S1);
        let oversold = result.witnesses.iter().take(3);
        let subjects = oversold.map(|one| (one.place, one.witness.subject.as_str()));
        assert_eq!(
            subjects.collect::<Vec<_>>(),
            [
                (Place::First, "SKU s0"),
                (Place::Worst, "SKU s1"),
                (Place::Last, "SKU s2")
            ]
        );
        assert!(
            result
                .detail
                .ends_with("11 units in live orders of 7 on sale."),
            "{}",
            result.detail
        );
    }

    #[test]
    fn a_witness_of_the_sale_tells_when_it_was_seen() {
        let below = Tiny::sale(2).bought(1).with(|e| {
            e.samples.push(Sample {
                at_ms: 2_500,
                store_available_min: Some(-3),
                ..Sample::default()
            });
        });
        let events = below.check(CheckId::S1).witnesses[0]
            .witness
            .events
            .join("\n");
        assert!(events.contains("2.5"), "{events}");
        assert!(events.contains("a SKU had -3 units available"), "{events}");
    }

    #[test]
    fn what_was_not_read_is_not_judged() {
        let sold = || Tiny::sale(2).bought(1).bought(2);
        let started_with_three = |tiny: Tiny| {
            tiny.with(|e| {
                e.stores.start.stock[0].total = 3;
                e.stores.start.stock[0].available = 3;
            })
        };
        assert_verdicts(
            CheckId::S1,
            vec![
                (
                    "nothing sold",
                    Tiny::sale(2).refused(1, "sold_out"),
                    Inconclusive,
                ),
                (
                    "orders not read",
                    sold().with(|e| {
                        e.stores.end.orders.clear();
                        unread(&mut e.stores.end, "orders: gone");
                    }),
                    Inconclusive,
                ),
                (
                    "not set up",
                    sold().with(|e| e.stores.start.stock.clear()),
                    Inconclusive,
                ),
                (
                    "sold what the store really started with",
                    started_with_three(Tiny::sale(2).bought(1).bought(2).bought(3)),
                    Inconclusive,
                ),
                (
                    "sold more than the store really started with",
                    started_with_three(Tiny::sale(2).bought(1).bought(2).bought(3).bought(4)),
                    Fail,
                ),
                (
                    "oversold, whatever else was not read",
                    Tiny::sale(1)
                        .bought(1)
                        .bought(2)
                        .with(|e| unread(&mut e.stores.end, "cache s0: gone")),
                    Fail,
                ),
            ],
        );
    }
}
