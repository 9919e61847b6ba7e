//! S7: the states of an order that buyers were told, and the one at rest, follow each other as states may.

use super::CheckId;
use super::case::{Case, Checker};
use super::finding::Finding;
use super::purchases::Purchase;
use super::statement::Statement;
use crate::figures::count;
use crate::history::final_state::OrderState::{self, Cancelled, Created, Expired, Paid, Rejected};

pub struct Transitions;

impl Checker for Transitions {
    fn id(&self) -> CheckId {
        CheckId::S7
    }

    fn title(&self) -> &'static str {
        "Legal order states: an end is final, and only one of payment and cancellation wins"
    }

    fn judge(&self, case: &Case<'_>) -> Finding {
        let mut finding = Finding::default();
        case.doubt_unless_read(&mut finding);
        let refunds = case.evidence.plan.target.state.paid_can_be_cancelled;
        let (mut orders, mut statements) = (0, 0);
        for purchase in case.purchases.sorted() {
            orders += u64::from(!purchase.told.is_empty());
            statements += purchase.told.len() as u64;
            judge_told(case, purchase, refunds, &mut finding);
            judge_end(case, purchase, refunds, &mut finding);
        }
        if orders == 0 {
            finding.doubt("no buyer was told the state of an order".to_owned());
        }
        let [statements, orders] = [statements, orders].map(count);
        finding.fact(format!("{statements} states told of {orders} orders"));
        finding
    }
}

/// An order in state `before` may be in state `after` later.
fn may_follow(before: OrderState, after: OrderState, refunds: bool) -> bool {
    match before {
        Created => true,
        Paid => after == Paid || (refunds && after == Cancelled),
        Cancelled | Expired | Rejected => after == before,
    }
}

/// What was told at one time must fit what was told later; of answers that overlap, either may be the earlier.
fn judge_told(case: &Case<'_>, purchase: &Purchase, refunds: bool, finding: &mut Finding) {
    for (at, one) in purchase.told.iter().enumerate() {
        for other in &purchase.told[at + 1..] {
            let (forth, back) = (
                may_follow(one.state, other.state, refunds),
                may_follow(other.state, one.state, refunds),
            );
            let fits = match (one.is_before(other), other.is_before(one)) {
                (true, _) => forth,
                (_, true) => back,
                (false, false) => forth || back,
            };
            if !fits {
                finding.violation(
                    "order that was told to be in states that exclude each other",
                    || {
                        let text = format!("told {} and {}", one.state.name(), other.state.name());
                        case.witness(purchase.key, text)
                    },
                );
                return;
            }
        }
    }
}

/// The store at rest comes after everything that was told.
fn judge_end(case: &Case<'_>, purchase: &Purchase, refunds: bool, finding: &mut Finding) {
    let rows = case.ledger.rows(purchase.key);
    let fits = |told: &Statement| {
        rows.iter()
            .any(|row| may_follow(told.state, row.state, refunds))
    };
    let lie = purchase.told.iter().find(|told| !fits(told));
    if let Some(told) = lie.filter(|_| !rows.is_empty()) {
        finding.violation("order that left a state which is final", || {
            let text = format!("it was told to be {}", told.state.name());
            case.witness(purchase.key, text)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict::{Fail, Inconclusive, Pass};
    use super::super::tiny_history::{Tiny, assert_verdicts, unread};
    use super::*;

    fn bought() -> Tiny {
        Tiny::sale(2).accepted(1)
    }

    #[test]
    fn states_that_follow_each_other_pass() {
        assert_verdicts(
            CheckId::S7,
            vec![
                ("paid", bought().pay(1).order(1, Paid), Pass),
                (
                    "asked, then paid, asked again",
                    bought()
                        .told(1, Created)
                        .pay(1)
                        .told(1, Paid)
                        .order(1, Paid),
                    Pass,
                ),
                (
                    "created, cancelled by expiry",
                    bought().told(1, Created).order(1, Expired),
                    Pass,
                ),
                (
                    "an answer from before that came late",
                    bought()
                        .pay(1)
                        .told(1, Created)
                        .but(|one| one.sent_ns -= 15_000_000)
                        .order(1, Paid),
                    Pass,
                ),
                (
                    "an answer from before, asked for in the moment of the other",
                    bought()
                        .pay(1)
                        .told(1, Created)
                        .but(|one| one.sent_ns = 11_000_000)
                        .order(1, Paid),
                    Pass,
                ),
                (
                    "refunded where that may be",
                    bought()
                        .pay(1)
                        .cancel(1)
                        .order(1, Cancelled)
                        .with(|e| e.plan.target.state.paid_can_be_cancelled = true),
                    Pass,
                ),
            ],
        );
    }

    #[test]
    fn states_that_exclude_each_other_fail() {
        let both = || bought().pay(1).cancel(1);
        assert_verdicts(
            CheckId::S7,
            vec![
                ("paid and cancelled", both().order(1, Paid), Fail),
                (
                    "both at one time",
                    both()
                        .but(|one| one.sent_ns -= 10_500_000)
                        .order(1, Cancelled),
                    Fail,
                ),
                (
                    "paid, then created again",
                    bought().told(1, Paid).told(1, Created).order(1, Created),
                    Fail,
                ),
                (
                    "paid, then created again, paid at rest",
                    bought().pay(1).told(1, Created).order(1, Paid),
                    Fail,
                ),
                (
                    "told cancelled, created at rest",
                    bought().told(1, Cancelled).order(1, Created),
                    Fail,
                ),
                (
                    "told expired, paid at rest",
                    bought().told(1, Expired).order(1, Paid),
                    Fail,
                ),
                (
                    "told rejected, sold at rest",
                    bought().told(1, Rejected).order(1, Created),
                    Fail,
                ),
            ],
        );
    }

    #[test]
    fn without_a_statement_nothing_is_known() {
        assert_verdicts(
            CheckId::S7,
            vec![
                ("nobody asked", Tiny::sale(2).bought(1), Inconclusive),
                (
                    "stores not read",
                    bought()
                        .pay(1)
                        .order(1, Paid)
                        .with(|e| unread(&mut e.stores.end, "orders: gone")),
                    Inconclusive,
                ),
            ],
        );
    }

    #[test]
    fn counts_what_was_told_of_how_many_orders() {
        let asked = bought().told(1, Created).told(1, Created).pay(1);
        let other = asked.order(1, Paid).bought(2).told(2, Created).bought(3);
        assert_eq!(
            other.check(CheckId::S7).detail,
            "3 states told of 2 orders."
        );
    }
}
