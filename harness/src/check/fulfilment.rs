//! S3: what is paid for can be delivered.

use std::collections::HashMap;

use super::case::{Case, Checker, NOT_SET_UP};
use super::finding::Finding;
use super::purchases::Purchase;
use super::{CheckId, Witness};
use crate::figures::count;
use crate::history::final_state::OrderState;

pub struct Fulfilment;

impl Checker for Fulfilment {
    fn id(&self) -> CheckId {
        CheckId::S3
    }

    fn title(&self) -> &'static str {
        "No fulfilment oversell: not more units paid than there were"
    }

    fn judge(&self, case: &Case<'_>) -> Finding {
        let mut finding = Finding::default();
        case.doubt_unless_read(&mut finding);
        let paid = paid_units(case);
        for (_, sku, supply) in case.skus() {
            let units = paid.get(sku.id.as_str()).copied().unwrap_or(0);
            if !case.was_set_up(&sku.id, sku.stock) {
                finding.doubt_about(&sku.id, NOT_SET_UP);
            } else if units > supply.units {
                let beyond = units - supply.units;
                let name = "SKU with more units paid than there were";
                finding.violation_of(beyond, name, || Witness {
                    subject: sku.id.clone(),
                    events: vec![
                        supply.to_string(),
                        format!("buyers paid for {units}, in the store or by what they were told"),
                    ],
                });
            }
        }
        let all: u64 = paid.values().sum();
        if all == 0 {
            finding.doubt("nothing was paid".to_owned());
        }
        finding.fact(format!("{} units paid", count(all)));
        finding
    }
}

/// Units by SKU of orders that are paid, and of purchases whose buyers were told so.
fn paid_units<'e>(case: &Case<'e>) -> HashMap<&'e str, u64> {
    let mut units: HashMap<&str, u64> = HashMap::new();
    for row in &case.end().orders {
        if row.state == OrderState::Paid {
            *units.entry(&row.sku).or_default() += u64::from(row.quantity);
        }
    }
    for purchase in case.purchases.sorted() {
        if is_paid_by_word_only(case, purchase) {
            *units.entry(case.sku(purchase.sku)).or_default() += u64::from(purchase.quantity);
        }
    }
    units
}

/// One that was cancelled after it was paid got the money back.
fn is_paid_by_word_only(case: &Case<'_>, purchase: &Purchase) -> bool {
    let rows = case.ledger.rows(purchase.key);
    let stored = rows.iter().any(|row| row.state == OrderState::Paid);
    purchase.paid_ns.is_some() && purchase.cancelled_ns.is_none() && !stored
}

#[cfg(test)]
mod tests {
    use super::super::Place;
    use super::super::Verdict::{Fail, Inconclusive, Pass};
    use super::super::tiny_history::{Tiny, assert_verdicts, unread};
    use super::*;
    use crate::history::final_state::OrderState::{Cancelled, Created, Expired, Paid};

    fn paid(tiny: Tiny, key: u64) -> Tiny {
        tiny.accepted(key).pay(key).order(key, Paid)
    }

    #[test]
    fn up_to_the_stock_passes() {
        let both = || paid(paid(Tiny::sale(2), 1), 2);
        assert_verdicts(
            CheckId::S3,
            vec![
                ("all of it", both(), Pass),
                ("with what came", paid(both().top_up(1), 3), Pass),
                ("others unpaid", both().order(3, Created), Pass),
                (
                    "refunded",
                    both().accepted(3).pay(3).cancel(3).order(3, Cancelled),
                    Pass,
                ),
            ],
        );
    }

    #[test]
    fn one_more_than_there_was_fails() {
        let one = || paid(Tiny::sale(1), 1);
        assert_verdicts(
            CheckId::S3,
            vec![
                ("in the store", paid(one(), 2), Fail),
                (
                    "told paid, and resold",
                    one().accepted(2).pay(2).order(2, Expired),
                    Fail,
                ),
            ],
        );
    }

    #[test]
    fn the_worst_is_the_sku_with_most_units_paid_beyond_its_stock() {
        let paid = |tiny: Tiny, key, sku: &str, units| {
            tiny.order(key, Paid).but_order(|row| {
                row.sku = sku.to_owned();
                row.quantity = units;
            })
        };
        let sold = paid(Tiny::sale(5).sku(2).sku(1), 1, "s0", 6);
        let sold = paid(paid(sold, 2, "s1", 4), 3, "s2", 3);
        let witnesses = sold.check(CheckId::S3).witnesses;
        let subjects = witnesses.iter().map(|one| one.witness.subject.as_str());
        assert_eq!(subjects.collect::<Vec<_>>(), ["s0", "s1", "s2"]);
        assert_eq!(witnesses[1].place, Place::Worst);
    }

    #[test]
    fn counts_units_of_orders_and_of_what_buyers_were_told() {
        let sold = paid(Tiny::sale(9), 1).but_order(|row| row.quantity = 2);
        let told = sold.accepted(2).but(|one| one.quantity = 3).pay(2);
        let detail = told.check(CheckId::S3).detail;
        assert_eq!(detail, "5 units paid.");
    }

    #[test]
    fn without_payments_or_stores_nothing_is_known() {
        let one = || paid(Tiny::sale(1), 1);
        assert_verdicts(
            CheckId::S3,
            vec![
                ("nothing paid", Tiny::sale(2).bought(1), Inconclusive),
                (
                    "not set up",
                    one().with(|e| e.stores.start.stock.clear()),
                    Inconclusive,
                ),
                (
                    "not read",
                    one().with(|e| unread(&mut e.stores.end, "orders: gone")),
                    Inconclusive,
                ),
            ],
        );
    }
}
