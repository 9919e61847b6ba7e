//! S4: one order per request id, the one that was asked for, under the one id that was answered.

use std::collections::HashMap;

use super::CheckId;
use super::case::{Case, Checker};
use super::finding::Finding;
use super::ledger::Standing;
use super::purchases::Purchase;
use super::witness::order;
use crate::figures::count;
use crate::history::final_state::OrderRow;
use crate::load::population::user_id;

pub struct OneOrder;

impl Checker for OneOrder {
    fn id(&self) -> CheckId {
        CheckId::S4
    }

    fn title(&self) -> &'static str {
        "One order per request id, the same for every click"
    }

    fn judge(&self, case: &Case<'_>) -> Finding {
        let mut finding = Finding::default();
        case.doubt_unless_read(&mut finding);
        for key in case.ledger.keys() {
            judge_rows(case, key, &mut finding);
        }
        for purchase in case.purchases.sorted() {
            judge_answers(case, purchase, &mut finding);
        }
        judge_shared_ids(case, &mut finding);
        let accepted = case.accepted();
        let repeated = accepted.iter().filter(|(one, _)| one.clicks() > 1).count();
        if repeated == 0 && case.evidence.plan.population.duplicate_share > 0.0 {
            let text = "no accepted purchase was clicked twice although the drill has duplicates";
            finding.doubt(text.to_owned());
        }
        let [repeated, total] = [repeated, accepted.len()].map(|number| count(number as u64));
        finding.fact(format!(
            "{repeated} of {total} accepted purchases were clicked repeatedly"
        ));
        finding
    }
}

/// More than one order that was granted at some time, or one that is not what was asked for.
fn judge_rows(case: &Case<'_>, key: u64, finding: &mut Finding) {
    let granted = |row: &&&OrderRow| case.ledger.standing(row) != Standing::NeverGranted;
    let rows = case.ledger.rows(key).iter().filter(granted).count();
    if rows > 1 {
        finding.violation("purchase with several orders", || {
            case.witness(key, format!("one purchase became {rows} orders"))
        });
    }
    let Some(purchase) = case.purchases.get(key) else {
        return;
    };
    for row in case.ledger.rows(key) {
        if !is_as_asked(case, purchase, row) {
            finding.violation("order that differs from what was asked", || {
                case.witness(key, format!("not what was asked: {}", order(row)))
            });
        }
    }
}

fn is_as_asked(case: &Case<'_>, purchase: &Purchase, row: &OrderRow) -> bool {
    row.user == user_id(purchase.user)
        && row.sku == case.sku(purchase.sku)
        && row.quantity == purchase.quantity
}

/// Different ids for clicks of one purchase, or an id that is not the stored order's.
fn judge_answers(case: &Case<'_>, purchase: &Purchase, finding: &mut Finding) {
    let key = purchase.key;
    if let Some(other) = &purchase.other_order_id {
        finding.violation("purchase answered with several order ids", || {
            let first = purchase.order_id.as_deref().unwrap_or_default();
            case.witness(
                key,
                format!("one purchase was answered with order {first} and {other}"),
            )
        });
    }
    let Some(answered) = purchase.order_id.as_deref() else {
        return;
    };
    let rows = case.ledger.rows(key);
    if !rows.is_empty() && rows.iter().all(|row| row.order_id != answered) {
        finding.violation("order stored under another id than was answered", || {
            case.witness(key, format!("the buyer was told order {answered}"))
        });
    }
}

/// One order id for several purchases: one of the buyers gets nothing.
fn judge_shared_ids(case: &Case<'_>, finding: &mut Finding) {
    let mut owners: HashMap<&str, u64> = HashMap::new();
    for purchase in case.purchases.sorted() {
        let Some(id) = purchase.order_id.as_deref() else {
            continue;
        };
        let owner = *owners.entry(id).or_insert(purchase.key);
        if owner != purchase.key {
            finding.violation("order id given to several purchases", || {
                let text = format!("order {id} had been given to purchase {owner} before");
                case.witness(purchase.key, text)
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict::{Fail, Inconclusive, Pass};
    use super::super::tiny_history::{Tiny, assert_verdicts, unread};
    use super::*;
    use crate::history::final_state::OrderState::{Cancelled, Created};
    use crate::history::operation::Outcome::Accepted;

    fn second_order(tiny: Tiny, key: u64) -> Tiny {
        tiny.order(key, Created)
            .but_order(|row| row.order_id = "other".to_owned())
    }

    #[test]
    fn one_order_for_all_clicks_passes() {
        assert_verdicts(
            CheckId::S4,
            vec![
                ("one click", Tiny::sale(2).bought(1), Pass),
                (
                    "three clicks, one order",
                    Tiny::sale(2).accepted(1).accepted(1).bought(1),
                    Pass,
                ),
                (
                    "a click with unknown outcome",
                    Tiny::sale(2).unknown(1).bought(1),
                    Pass,
                ),
                (
                    "refused while busy, then accepted",
                    Tiny::sale(2).refused(1, "paused").bought(1),
                    Pass,
                ),
                (
                    "a refused try kept as a rejected order",
                    Tiny::sale(2).rejected(1, "never_reserved").bought(1),
                    Pass,
                ),
                (
                    "an answer without an order id",
                    Tiny::sale(2).bought(1).but(|one| one.order_id = None),
                    Pass,
                ),
            ],
        );
    }

    #[test]
    fn another_click_after_a_wait_is_held_to_the_same() {
        assert_verdicts(
            CheckId::S4,
            vec![
                (
                    "lost, clicked again, accepted",
                    Tiny::sale(2)
                        .unknown(1)
                        .retried(Accepted, "")
                        .order(1, Created),
                    Pass,
                ),
                (
                    "another click became a second order",
                    second_order(Tiny::sale(2).bought(1).retried(Accepted, ""), 1),
                    Fail,
                ),
                (
                    "another click got another order id",
                    Tiny::sale(2)
                        .bought(1)
                        .retried(Accepted, "")
                        .but(|one| one.order_id = Some("other".into())),
                    Fail,
                ),
            ],
        );
    }

    #[test]
    fn several_or_other_orders_fail() {
        assert_verdicts(
            CheckId::S4,
            vec![
                (
                    "two live orders",
                    second_order(Tiny::sale(2).bought(1), 1),
                    Fail,
                ),
                (
                    "bought again under a cancelled request id",
                    second_order(Tiny::sale(2).accepted(1).cancel(1).order(1, Cancelled), 1),
                    Fail,
                ),
                (
                    "clicks answered with different ids",
                    Tiny::sale(2)
                        .bought(1)
                        .accepted(1)
                        .but(|one| one.order_id = Some("o9".into())),
                    Fail,
                ),
                (
                    "stored under another id",
                    Tiny::sale(2)
                        .bought(1)
                        .but(|one| one.order_id = Some("o9".into())),
                    Fail,
                ),
                (
                    "one id for two purchases",
                    Tiny::sale(2)
                        .bought(1)
                        .accepted(2)
                        .but(|one| one.order_id = Some("o1".into())),
                    Fail,
                ),
                (
                    "another buyer's",
                    Tiny::sale(2)
                        .bought(1)
                        .but_order(|row| row.user = user_id(2)),
                    Fail,
                ),
                (
                    "another SKU",
                    Tiny::sale(2)
                        .sku(2)
                        .bought(1)
                        .but_order(|row| row.sku = "s1".into()),
                    Fail,
                ),
                (
                    "another quantity",
                    Tiny::sale(2).bought(1).but_order(|row| row.quantity = 2),
                    Fail,
                ),
                (
                    "an unknown outcome applied twice",
                    second_order(Tiny::sale(2).unknown(1).order(1, Created), 1),
                    Fail,
                ),
            ],
        );
    }

    #[test]
    fn untested_idempotency_is_not_a_pass() {
        let with_duplicates = |tiny: Tiny| tiny.with(|e| e.plan.population.duplicate_share = 0.1);
        assert_verdicts(
            CheckId::S4,
            vec![
                (
                    "no click was repeated",
                    with_duplicates(Tiny::sale(2).bought(1)),
                    Inconclusive,
                ),
                (
                    "one was",
                    with_duplicates(Tiny::sale(2).bought(1).accepted(1)),
                    Pass,
                ),
                (
                    "nothing sold",
                    Tiny::sale(2).refused(1, "sold_out"),
                    Inconclusive,
                ),
                (
                    "orders not read",
                    Tiny::sale(2)
                        .bought(1)
                        .with(|e| unread(&mut e.stores.end, "orders: gone")),
                    Inconclusive,
                ),
            ],
        );
    }

    #[test]
    fn counts_the_purchases_that_were_clicked_repeatedly() {
        let tiny = Tiny::sale(9)
            .bought(1)
            .bought(2)
            .accepted(2)
            .unknown(3)
            .bought(3)
            .refused(4, "paused")
            .refused(4, "paused");
        assert_eq!(
            tiny.check(CheckId::S4).detail,
            "2 of 3 accepted purchases were clicked repeatedly."
        );
    }
}
