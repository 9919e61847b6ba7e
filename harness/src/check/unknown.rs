//! L2: every purchase with an unknown outcome either happened or did not, and the stores say which.

use super::CheckId;
use super::case::{Case, Checker};
use super::finding::Finding;
use super::ledger::Standing;
use super::purchases::Purchase;
use crate::figures::count;
use crate::load::population::user_id;

pub struct Unknown;

impl Checker for Unknown {
    fn id(&self) -> CheckId {
        CheckId::L2
    }

    fn title(&self) -> &'static str {
        "Unknown outcomes are resolved: applied or not, never half"
    }

    fn judge(&self, case: &Case<'_>) -> Finding {
        let mut finding = Finding::default();
        if case.purchases.operations == 0 {
            finding.doubt("the history is empty".to_owned());
        }
        if let Some(unread) = case.unread() {
            finding.doubt(unread);
        }
        match case.end().queue_backlog {
            Some(0) => judge_half(case, &mut finding),
            Some(left) => finding.doubt(format!("{left} messages are still queued")),
            None => finding.doubt("the queue could not be read".to_owned()),
        }
        let applied = applied(case);
        let [attempts, applied] = [case.purchases.unknown_buys, applied as u64].map(count);
        let text = "attempts with an unknown outcome, purchases of them that were applied:";
        finding.fact(format!("{attempts} {text} {applied}"));
        finding
    }
}

/// Purchases whose only evidence is an unknown attempt, and which the store shows as granted.
pub fn applied(case: &Case<'_>) -> usize {
    let granted = |purchase: &&Purchase| {
        let standing = case.ledger.purchase_standing(purchase.key);
        standing.is_some_and(|standing| standing != Standing::NeverGranted)
    };
    only_unknown(case).into_iter().filter(granted).count()
}

fn only_unknown<'c>(case: &'c Case<'_>) -> Vec<&'c Purchase> {
    let all = case.purchases.sorted().into_iter();
    all.filter(|purchase| purchase.accepted == 0 && purchase.unknown > 0)
        .collect()
}

/// Units that the cache holds for a buyer whose purchase the store does not know: neither applied nor not.
fn judge_half(case: &Case<'_>, finding: &mut Finding) {
    if !case.is_complete() {
        return;
    }
    for purchase in only_unknown(case) {
        let live = Some(Standing::Live) == case.ledger.purchase_standing(purchase.key);
        let (user, sku) = (user_id(purchase.user), case.sku(purchase.sku));
        let (held, stored) = (
            held(case, &user, sku),
            case.ledger.live_units_of(&user, sku),
        );
        if !live && held > stored {
            finding.violation("unknown purchase half applied", || {
                let text =
                    format!("the cache holds {held} of {sku} for {user}, the store {stored}");
                case.witness(purchase.key, text)
            });
        }
    }
}

fn held(case: &Case<'_>, user: &str, sku: &str) -> i64 {
    let row = case.end().cache.iter().find(|row| row.sku == sku);
    row.and_then(|row| row.held.get(user)).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::Verdict::{Fail, Inconclusive, Pass};
    use super::super::tiny_history::{Tiny, assert_verdicts, unread};
    use super::*;
    use crate::history::final_state::OrderState::Created;
    use crate::history::operation::Outcome::Refused;

    fn held(tiny: Tiny, user: &str) -> Tiny {
        let user = user.to_owned();
        tiny.with(|e| {
            e.stores.end.cache[0].held.insert(user, 1);
        })
    }

    #[test]
    fn applied_or_not_passes_and_is_counted() {
        let both = || {
            Tiny::sale(3)
                .bought(1)
                .unknown(2)
                .order(2, Created)
                .unknown(3)
        };
        assert_verdicts(
            CheckId::L2,
            vec![
                ("no unknown", Tiny::sale(3).bought(1), Pass),
                ("one applied, one not", both(), Pass),
                (
                    "settled as never granted",
                    Tiny::sale(3)
                        .bought(1)
                        .unknown(2)
                        .rejected(2, "never_reserved"),
                    Pass,
                ),
                (
                    "lost, clicked again, refused",
                    Tiny::sale(3)
                        .bought(1)
                        .unknown(2)
                        .retried(Refused, "sold_out"),
                    Pass,
                ),
                ("somebody else's hold", held(both(), "u9"), Pass),
                (
                    "a hold of the buyer's other purchase",
                    Tiny::sale(3).bought(1).unknown(2).but(|one| one.user = 1),
                    Pass,
                ),
            ],
        );
        let counted = |tiny: Tiny| tiny.check(CheckId::L2).detail;
        assert_eq!(
            counted(both()),
            "2 attempts with an unknown outcome, purchases of them that were applied: 1."
        );
        assert_eq!(
            counted(Tiny::sale(3).bought(1).unknown(2).unknown(2)),
            "2 attempts with an unknown outcome, purchases of them that were applied: 0."
        );
        assert_eq!(
            counted(Tiny::sale(3).unknown(1).bought(1)),
            "1 attempts with an unknown outcome, purchases of them that were applied: 0."
        );
        let refused_and_stored = Tiny::sale(3).bought(1).refused(2, "sold_out");
        assert_eq!(
            counted(refused_and_stored.order(2, Created)),
            "0 attempts with an unknown outcome, purchases of them that were applied: 0."
        );
    }

    #[test]
    fn half_applied_fails() {
        let half = || held(Tiny::sale(3).bought(1).unknown(2), &user_id(2));
        let of_other_sku = Tiny::sale(3).sku(3).bought(1).unknown(2);
        let of_other_sku = of_other_sku.but(|one| one.sku = 1).with(|e| {
            e.stores.end.cache[1].held.insert(user_id(2), 1);
        });
        let of_rejected = Tiny::sale(3)
            .bought(1)
            .unknown(2)
            .rejected(2, "never_reserved");
        assert_verdicts(
            CheckId::L2,
            vec![
                ("held in the cache, no order", half(), Fail),
                ("of another SKU", of_other_sku, Fail),
                (
                    "held in the cache, another click refused",
                    held(
                        Tiny::sale(3)
                            .bought(1)
                            .unknown(2)
                            .retried(Refused, "sold_out"),
                        &user_id(2),
                    ),
                    Fail,
                ),
                (
                    "held in the cache, rejected in the store",
                    held(of_rejected, &user_id(2)),
                    Fail,
                ),
            ],
        );
    }

    #[test]
    fn what_may_still_happen_is_unresolved() {
        let one = || Tiny::sale(3).bought(1).unknown(2);
        assert_verdicts(
            CheckId::L2,
            vec![
                (
                    "queue not empty",
                    one().with(|e| e.stores.end.queue_backlog = Some(1)),
                    Inconclusive,
                ),
                (
                    "queue not read",
                    one().with(|e| e.stores.end.queue_backlog = None),
                    Inconclusive,
                ),
                (
                    "stores not read",
                    one().with(|e| unread(&mut e.stores.end, "orders: gone")),
                    Inconclusive,
                ),
                ("no history", Tiny::sale(3), Inconclusive),
            ],
        );
    }
}
