//! L1: what a buyer was told came true. An accepted purchase has an order, or was rejected in the open
//! (a broken promise); an accepted payment or cancellation is in the store.

use super::CheckId;
use super::case::{Case, Checker};
use super::finding::Finding;
use super::ledger::Standing;
use super::purchases::Purchase;
use crate::figures::count;
use crate::history::final_state::OrderState;

pub struct Lost;

/// Accepted purchases by what became of them.
#[derive(Default)]
struct Fates {
    live: u64,
    released: u64,
    broken: u64,
    never_granted: u64,
}

impl Checker for Lost {
    fn id(&self) -> CheckId {
        CheckId::L1
    }

    fn title(&self) -> &'static str {
        "No lost orders: every accepted purchase, payment and cancellation is in the store"
    }

    fn judge(&self, case: &Case<'_>) -> Finding {
        let mut finding = Finding::default();
        case.doubt_unless_read(&mut finding);
        if !case.is_complete() {
            return finding;
        }
        let accepted = case.accepted();
        let mut fates = Fates::default();
        for (purchase, standing) in &accepted {
            judge_purchase(case, purchase, *standing, &mut fates, &mut finding);
        }
        if accepted.is_empty() {
            finding.doubt("no purchase was accepted".to_owned());
        }
        finding.fact(fates.to_text(accepted.len()));
        finding
    }
}

fn judge_purchase(
    case: &Case<'_>,
    purchase: &Purchase,
    standing: Option<Standing>,
    fates: &mut Fates,
    finding: &mut Finding,
) {
    match standing {
        None => missing(case, purchase, finding),
        Some(standing) => {
            fates.count(standing);
            judge_cancel(case, purchase, finding);
            judge_pay(case, purchase, finding);
        }
    }
}

fn missing(case: &Case<'_>, purchase: &Purchase, finding: &mut Finding) {
    let key = purchase.key;
    match case.end().queue_backlog {
        None => finding.doubt_about(
            &key.to_string(),
            "accepted purchases have no order, and the queue could not be read",
        ),
        Some(0) => finding.violation("accepted purchase without an order", || {
            case.witness(key, "the queue is empty: the order is lost".to_owned())
        }),
        Some(left) => finding.violation("accepted purchase without an order in time", || {
            case.witness(
                key,
                format!("{left} messages were still queued at the deadline"),
            )
        }),
    }
}

/// A cancelled order must not hold stock, unless it was paid after all.
fn judge_cancel(case: &Case<'_>, purchase: &Purchase, finding: &mut Finding) {
    if purchase.cancelled_ns.is_none() || purchase.paid_ns.is_some() {
        return;
    }
    if case
        .ledger
        .rows(purchase.key)
        .iter()
        .any(|row| row.state.is_live())
    {
        finding.violation("accepted cancellation without effect", || {
            case.witness(
                purchase.key,
                "the buyer was told that it is cancelled".to_owned(),
            )
        });
    }
}

/// A paid order stays paid, unless it was cancelled (refunded) at the buyer's wish.
fn judge_pay(case: &Case<'_>, purchase: &Purchase, finding: &mut Finding) {
    if purchase.paid_ns.is_none() {
        return;
    }
    let rows = case.ledger.rows(purchase.key);
    let is = |state: OrderState| rows.iter().any(|row| row.state == state);
    let refunded = purchase.cancelled_ns.is_some() && is(OrderState::Cancelled);
    if !is(OrderState::Paid) && !refunded {
        finding.violation("accepted payment without a paid order", || {
            case.witness(
                purchase.key,
                "the buyer was told that it is paid".to_owned(),
            )
        });
    }
}

impl Fates {
    fn count(&mut self, standing: Standing) {
        match standing {
            Standing::Live => self.live += 1,
            Standing::Released => self.released += 1,
            Standing::BrokenPromise => self.broken += 1,
            Standing::NeverGranted => self.never_granted += 1,
        }
    }

    fn to_text(&self, accepted: usize) -> String {
        let [all, live, released, broken, never] = [
            accepted as u64,
            self.live,
            self.released,
            self.broken,
            self.never_granted,
        ]
        .map(count);
        format!(
            "{all} accepted purchases: {live} live, {released} given back, {broken} broken promises, \
             {never} settled as never granted"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict::{Fail, Inconclusive, Pass};
    use super::super::tiny_history::{SEED, Tiny, assert_verdicts, unread};
    use super::*;
    use crate::history::final_state::OrderState::{Cancelled, Created, Expired, Paid};
    use crate::history::operation::Outcome::Accepted;
    use crate::load::population::{request_id, user_id};

    #[test]
    fn promises_kept_or_broken_in_the_open_pass() {
        assert_verdicts(
            CheckId::L1,
            vec![
                (
                    "stored",
                    Tiny::sale(3).bought(1).refused(2, "sold_out"),
                    Pass,
                ),
                ("expired", Tiny::sale(3).accepted(1).order(1, Expired), Pass),
                (
                    "rejected, which the buyer can see",
                    Tiny::sale(3).accepted(1).rejected(1, "stock_exhausted"),
                    Pass,
                ),
                (
                    "refused, clicked again, stored",
                    Tiny::sale(3)
                        .refused(1, "paused")
                        .retried(Accepted, "")
                        .order(1, Created),
                    Pass,
                ),
                (
                    "an unknown outcome promises nothing",
                    Tiny::sale(3).bought(1).unknown(2),
                    Pass,
                ),
                (
                    "cancelled",
                    Tiny::sale(3).accepted(1).cancel(1).order(1, Cancelled),
                    Pass,
                ),
                (
                    "cancelled when it had expired",
                    Tiny::sale(3).accepted(1).cancel(1).order(1, Expired),
                    Pass,
                ),
                (
                    "paid",
                    Tiny::sale(3).accepted(1).pay(1).order(1, Paid),
                    Pass,
                ),
                (
                    "paid, then refunded",
                    Tiny::sale(3)
                        .accepted(1)
                        .pay(1)
                        .cancel(1)
                        .order(1, Cancelled),
                    Pass,
                ),
            ],
        );
    }

    #[test]
    fn what_buyers_were_told_and_is_not_there_fails() {
        let queued = |tiny: Tiny| tiny.with(|e| e.stores.end.queue_backlog = Some(3));
        assert_verdicts(
            CheckId::L1,
            vec![
                ("lost", Tiny::sale(3).bought(1).accepted(2), Fail),
                (
                    "accepted once, refused later, lost",
                    Tiny::sale(3).bought(1).accepted(2).refused(2, "sold_out"),
                    Fail,
                ),
                (
                    "not there in time",
                    queued(Tiny::sale(3).bought(1).accepted(2)),
                    Fail,
                ),
                ("cancellation lost", Tiny::sale(3).bought(1).cancel(1), Fail),
                (
                    "cancellation of a paid order lost?",
                    Tiny::sale(3).accepted(1).cancel(1).order(1, Paid),
                    Fail,
                ),
                ("payment lost", Tiny::sale(3).bought(1).pay(1), Fail),
                (
                    "paid, then expired",
                    Tiny::sale(3).accepted(1).pay(1).order(1, Expired),
                    Fail,
                ),
                (
                    "refused, clicked again, accepted and gone",
                    Tiny::sale(3)
                        .bought(1)
                        .refused(2, "paused")
                        .retried(Accepted, ""),
                    Fail,
                ),
                (
                    "paid for a rejected order",
                    Tiny::sale(3).accepted(1).pay(1).rejected(1, "x"),
                    Fail,
                ),
                (
                    "paid and cancelled, and neither",
                    Tiny::sale(3).accepted(1).pay(1).cancel(1).order(1, Created),
                    Fail,
                ),
            ],
        );
    }

    #[test]
    fn unread_stores_lose_nothing() {
        assert_verdicts(
            CheckId::L1,
            vec![
                (
                    "nothing accepted",
                    Tiny::sale(3).refused(1, "sold_out"),
                    Inconclusive,
                ),
                (
                    "orders not read",
                    Tiny::sale(3)
                        .accepted(1)
                        .with(|e| unread(&mut e.stores.end, "orders: gone")),
                    Inconclusive,
                ),
                (
                    "queue not read: it may be on its way",
                    Tiny::sale(3)
                        .bought(1)
                        .accepted(2)
                        .with(|e| e.stores.end.queue_backlog = None),
                    Inconclusive,
                ),
            ],
        );
    }

    #[test]
    fn tells_what_became_of_the_accepted_ones() {
        let live = (1..=5).fold(Tiny::sale(20), Tiny::bought);
        let released = (6..=9).fold(live, |tiny, key| tiny.accepted(key).order(key, Expired));
        let broken = (10..=12).fold(released, |tiny, key| tiny.accepted(key).rejected(key, "x"));
        let settled = (13..=14).fold(broken, |tiny, key| {
            tiny.accepted(key).rejected(key, "never_reserved")
        });
        assert_eq!(
            settled.accepted(15).check(CheckId::L1).detail,
            "1 × accepted purchase without an order; 15 accepted purchases: 5 live, 4 given back, \
             3 broken promises, 2 settled as never granted."
        );
    }

    #[test]
    fn the_witness_tells_the_whole_story() {
        let tiny = Tiny::sale(3)
            .unknown(2)
            .refused(2, "paused")
            .accepted(2)
            .bought(1);
        let witness = tiny.check(CheckId::L1).witnesses.remove(0).witness;
        assert_eq!(witness.subject, format!("request {}", request_id(SEED, 2)));
        assert_eq!(
            witness.events,
            [
                &format!(
                    "+0.020 s {} buys 1 of s0: accepted, order o2 after 1.0 ms (node 0, fault epoch 0)",
                    user_id(2)
                ),
                "at rest: the store holds no order for it",
                "the queue is empty: the order is lost",
            ]
        );
    }
}
