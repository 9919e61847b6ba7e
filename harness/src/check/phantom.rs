//! S6: every order belongs to an attempt that may have made it.

use super::case::{Case, Checker};
use super::finding::Finding;
use super::ledger::Standing;
use super::witness::order;
use super::{CheckId, Witness};
use crate::figures::count;
use crate::history::final_state::OrderRow;

pub struct Phantom;

impl Checker for Phantom {
    fn id(&self) -> CheckId {
        CheckId::S6
    }

    fn title(&self) -> &'static str {
        "No phantom orders: each was asked for, and not refused to the buyer"
    }

    fn judge(&self, case: &Case<'_>) -> Finding {
        let mut finding = Finding::default();
        case.doubt_unless_read(&mut finding);
        let gap = case.history_gap();
        for row in &case.ledger.strangers {
            finding.violation("order with a request id that nobody sent", || stranger(row));
        }
        judge_skus(case, &mut finding);
        for key in case.ledger.keys() {
            judge_key(case, key, gap.as_deref(), &mut finding);
        }
        if let Some(gap) = gap {
            finding.doubt(gap);
        }
        let orders = count(case.end().orders.len() as u64);
        finding.fact(format!("{orders} orders looked at"));
        finding
    }
}

fn judge_skus(case: &Case<'_>, finding: &mut Finding) {
    let skus = &case.evidence.plan.sale.skus;
    let rows = case.end().orders.iter();
    for row in rows.filter(|row| skus.iter().all(|sku| sku.id != row.sku)) {
        finding.violation("order for a SKU that is not on sale", || stranger(row));
    }
}

/// A gap in the history may hide the attempt: then nothing is said about a missing one.
fn judge_key(case: &Case<'_>, key: u64, gap: Option<&str>, finding: &mut Finding) {
    if gap.is_some() {
        return;
    }
    match case
        .purchases
        .get(key)
        .filter(|purchase| purchase.clicks() > 0)
    {
        None => finding.violation("order for a purchase that was never attempted", || {
            case.witness(key, "nobody sent this request id".to_owned())
        }),
        Some(purchase) if purchase.may_be_applied() => {}
        // A refusal kept as a rejected order is no contradiction.
        Some(_) if is_rejected(case, key) => {}
        Some(_) => finding.violation("order for a purchase that was refused", || {
            case.witness(
                key,
                "the buyer was refused, and got an order all the same".to_owned(),
            )
        }),
    }
}

fn is_rejected(case: &Case<'_>, key: u64) -> bool {
    let standing = case.ledger.purchase_standing(key);
    matches!(
        standing,
        Some(Standing::NeverGranted | Standing::BrokenPromise)
    )
}

fn stranger(row: &OrderRow) -> Witness {
    Witness {
        subject: format!("order {}", row.order_id),
        events: vec![format!(
            "at rest: the store holds {}, request {}",
            order(row),
            row.request_id
        )],
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict::{Fail, Inconclusive, Pass};
    use super::super::tiny_history::{Tiny, assert_verdicts, unread};
    use super::*;
    use crate::history::final_state::OrderState::{Cancelled, Created, Expired};
    use crate::history::operation::Outcome::{Accepted, Refused, Unknown};

    #[test]
    fn orders_that_were_asked_for_pass() {
        assert_verdicts(
            CheckId::S6,
            vec![
                ("accepted", Tiny::sale(2).bought(1), Pass),
                (
                    "unknown and applied",
                    Tiny::sale(2).unknown(1).order(1, Created),
                    Pass,
                ),
                (
                    "unknown, then refused",
                    Tiny::sale(2)
                        .unknown(1)
                        .refused(1, "sold_out")
                        .order(1, Created),
                    Pass,
                ),
                (
                    "refused, then lost on another click",
                    Tiny::sale(2)
                        .refused(1, "paused")
                        .retried(Unknown, "timeout")
                        .order(1, Created),
                    Pass,
                ),
                (
                    "refused, then accepted",
                    Tiny::sale(2).refused(1, "paused").bought(1),
                    Pass,
                ),
                (
                    "a refusal kept as a rejected order",
                    Tiny::sale(2)
                        .bought(1)
                        .refused(2, "sold_out")
                        .rejected(2, "x"),
                    Pass,
                ),
            ],
        );
    }

    #[test]
    fn orders_out_of_nothing_fail() {
        assert_verdicts(
            CheckId::S6,
            vec![
                (
                    "never attempted",
                    Tiny::sale(2).bought(1).order(2, Created),
                    Fail,
                ),
                (
                    "never attempted, cancelled since",
                    Tiny::sale(2).bought(1).order(2, Cancelled),
                    Fail,
                ),
                (
                    "never attempted, rejected",
                    Tiny::sale(2).bought(1).rejected(2, "never_reserved"),
                    Fail,
                ),
                (
                    "never attempted, rejected, and paid for all the same",
                    Tiny::sale(2).bought(1).pay(2).rejected(2, "x"),
                    Fail,
                ),
                (
                    "refused only",
                    Tiny::sale(2)
                        .bought(1)
                        .refused(2, "sold_out")
                        .order(2, Created),
                    Fail,
                ),
                (
                    "refused on every click",
                    Tiny::sale(2)
                        .bought(1)
                        .refused(2, "paused")
                        .retried(Refused, "sold_out")
                        .order(2, Created),
                    Fail,
                ),
                (
                    "refused only, expired since",
                    Tiny::sale(2).refused(2, "sold_out").order(2, Expired),
                    Fail,
                ),
                (
                    "another run's request id",
                    Tiny::sale(2)
                        .bought(1)
                        .order(2, Created)
                        .but_order(|row| row.request_id = "x-2".into()),
                    Fail,
                ),
                (
                    "a SKU that is not on sale",
                    Tiny::sale(2)
                        .bought(1)
                        .but_order(|row| row.sku = "s9".into()),
                    Fail,
                ),
            ],
        );
    }

    #[test]
    fn a_gap_in_the_history_excuses_orders_but_never_passes() {
        let unasked = || Tiny::sale(2).bought(1).order(2, Created);
        assert_verdicts(
            CheckId::S6,
            vec![
                (
                    "damaged",
                    unasked().with(|e| e.damage = Some("cut".into())),
                    Inconclusive,
                ),
                (
                    "fewer records than sent, with another click",
                    unasked().retried(Accepted, "").with(|e| e.load.sent = 2),
                    Inconclusive,
                ),
                (
                    "fewer records than sent",
                    unasked().with(|e| e.load.sent = 2),
                    Inconclusive,
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
}
