//! S8: what buyers were refused is true. "Sold out" is said when all may have been taken, never of a failure; a
//! payment or cancellation that was refused did not happen.

use super::CheckId;
use super::case::{Case, Checker};
use super::finding::Finding;
use super::purchases::Purchase;
use super::supply::SkuSupply;
use crate::drill::plan::Sku;
use crate::figures::count;
use crate::history::final_state::OrderState;

pub struct Truthful;

impl Checker for Truthful {
    fn id(&self) -> CheckId {
        CheckId::S8
    }

    fn title(&self) -> &'static str {
        "Truthful answers: nobody was told sold out while units were left, or no when it was done"
    }

    fn judge(&self, case: &Case<'_>) -> Finding {
        let mut finding = Finding::default();
        case.doubt_unless_read(&mut finding);
        if let Some(gap) = case.history_gap() {
            finding.doubt(gap);
        }
        let rules = &case.evidence.plan.target.answers;
        if rules.iter().all(|rule| !rule.sold_out) {
            let text = "the target file marks no answer with `sold_out = true`";
            finding.doubt(text.to_owned());
        }
        let mut claimed = 0;
        for (index, sku, supply) in case.skus() {
            claimed += judge_sku(case, index, sku, supply, &mut finding);
        }
        for purchase in case.purchases.sorted() {
            judge_changes(case, purchase, &mut finding);
        }
        let [claimed, all] = [claimed, case.evidence.plan.sale.skus.len() as u64].map(count);
        finding.fact(format!("{claimed} of {all} SKUs were called sold out"));
        finding
    }
}

/// 1: somebody was told that it is sold out. A history with gaps may lack those who took the units.
fn judge_sku(
    case: &Case<'_>,
    index: usize,
    sku: &Sku,
    supply: &SkuSupply,
    finding: &mut Finding,
) -> u64 {
    let Some(claims) = case.purchases.claims.sku(index) else {
        return 0;
    };
    for first in claims.first() {
        let (taken, wanted) = (claims.taken_by(first), u64::from(first.quantity));
        let on_sale = supply.on_sale(first.sent_ns);
        let is_lie = taken + wanted <= on_sale;
        if is_lie && case.history_gap().is_none() {
            finding.violation("SKU called sold out while units were left", || {
                let text = format!(
                    "of {on_sale} units of {} at most {taken} can have been taken by then",
                    sku.id
                );
                case.witness_of(first, text)
            });
        }
    }
    claims.first().take(1).count() as u64
}

fn judge_changes(case: &Case<'_>, purchase: &Purchase, finding: &mut Finding) {
    if purchase.unknown_changes > 0 {
        return;
    }
    let changes = [
        (
            "payment that was refused and happened",
            purchase.paid_ns,
            purchase.refused_pays,
            OrderState::Paid,
        ),
        (
            "cancellation that was refused and happened",
            purchase.cancelled_ns,
            purchase.refused_cancels,
            OrderState::Cancelled,
        ),
    ];
    let rows = case.ledger.rows(purchase.key);
    for (name, done_ns, refused, state) in changes {
        let happened = rows.iter().any(|row| row.state == state);
        if done_ns.is_none() && refused > 0 && happened {
            finding.violation(name, || {
                case.witness(purchase.key, "the buyer was told no".to_owned())
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict::{Fail, Inconclusive, Pass};
    use super::super::tiny_history::{Tiny, assert_verdicts, unread};
    use super::*;
    use crate::drill::top_up::TopUpOutcome;
    use crate::history::final_state::OrderState::{Cancelled, Created, Paid};
    use crate::history::operation::Outcome::{Refused, Unknown};

    #[test]
    fn sold_out_when_all_may_be_taken_passes() {
        let asked_early = |tiny: Tiny| tiny.refused(9, "sold_out").but(|one| one.sent_ns = 500_000);
        assert_verdicts(
            CheckId::S8,
            vec![
                ("not said", Tiny::sale(2).bought(1), Pass),
                (
                    "all sold",
                    Tiny::sale(1).bought(1).refused(2, "sold_out"),
                    Pass,
                ),
                (
                    "the last one is on its way",
                    Tiny::sale(1)
                        .refused(2, "sold_out")
                        .bought(1)
                        .but(|one| one.sent_ns = 500_000),
                    Pass,
                ),
                (
                    "taken by one whose outcome is unknown",
                    Tiny::sale(2).bought(1).unknown(2).refused(3, "sold_out"),
                    Pass,
                ),
                (
                    "held for a moment by one who was put off",
                    Tiny::sale(2)
                        .bought(1)
                        .refused(2, "paused")
                        .refused(3, "sold_out"),
                    Pass,
                ),
                (
                    "sold out, then a unit came back",
                    Tiny::sale(1)
                        .accepted(1)
                        .refused(2, "sold_out")
                        .cancel(1)
                        .order(1, Cancelled)
                        .bought(3),
                    Pass,
                ),
                (
                    "less left than is wanted",
                    Tiny::sale(2)
                        .bought(1)
                        .refused(2, "sold_out")
                        .but(|one| one.quantity = 2),
                    Pass,
                ),
                (
                    "asked before the last, answered after",
                    asked_early(Tiny::sale(1).bought(1)),
                    Pass,
                ),
            ],
        );
    }

    /// The only unit is taken by two clicks, sent at these times; somebody is sent away at 11 ms.
    fn clicked_again(first_ms: u64, second_ms: u64) -> Tiny {
        let sent_at = |tiny: Tiny, ms: u64| tiny.but(|one| one.sent_ns = ms * 1_000_000);
        let first = sent_at(Tiny::sale(1).accepted(1), first_ms).refused(2, "sold_out");
        let second = sent_at(first.accepted(1), second_ms);
        second.order(1, Created)
    }

    #[test]
    fn a_unit_may_be_taken_from_the_earliest_of_its_clicks_on() {
        assert_verdicts(
            CheckId::S8,
            vec![
                ("the first of two", clicked_again(1, 20), Pass),
                ("one whose answer came last", clicked_again(20, 1), Pass),
                ("both came later", clicked_again(20, 30), Fail),
            ],
        );
    }

    #[test]
    fn sold_out_with_units_left_fails() {
        // Buyers of journeys have a history of their own, which is read after that of the load.
        let told_later = Tiny::sale(1).bought(1).but(|one| one.sent_ns = 500_000);
        let told_later = told_later.refused(2, "sold_out");
        let told_later = told_later.refused(3, "sold_out").but(|one| {
            one.sent_ns = 0;
            one.completed_ns = 400_000;
        });
        assert_verdicts(
            CheckId::S8,
            vec![
                (
                    "at once",
                    Tiny::sale(1).refused(2, "sold_out").bought(1),
                    Fail,
                ),
                (
                    "one left",
                    Tiny::sale(2).bought(1).refused(2, "sold_out"),
                    Fail,
                ),
                (
                    "the last one was asked for in the moment of the answer",
                    Tiny::sale(1)
                        .refused(2, "sold_out")
                        .bought(1)
                        .but(|one| one.sent_ns = 1_000_000),
                    Fail,
                ),
                ("before it was taken, told afterwards", told_later, Fail),
                (
                    "clicks of one purchase take one unit",
                    Tiny::sale(2)
                        .accepted(1)
                        .retried(crate::history::operation::Outcome::Accepted, "")
                        .order(1, Created)
                        .refused(2, "sold_out"),
                    Fail,
                ),
                (
                    "others were at their limit",
                    Tiny::sale(2)
                        .bought(1)
                        .refused(2, "limit_reached")
                        .refused(3, "sold_out"),
                    Fail,
                ),
            ],
        );
    }

    /// The only unit is sold, and somebody is sent away.
    fn sold_out() -> Tiny {
        Tiny::sale(1).bought(1).refused(2, "sold_out")
    }

    /// Topped up at 17 ms, with 1 ms of grace for stamps; somebody who asked at this time is sent away.
    fn asked_at(ns: u64) -> Tiny {
        let topped_up = sold_out().top_up(1).refused(3, "sold_out");
        topped_up.but(|one| {
            one.sent_ns = ns;
            one.completed_ns = 30_000_000;
        })
    }

    #[test]
    fn sold_out_until_units_come_and_when_they_are_gone_passes() {
        let nobody_answered = TopUpOutcome::Unknown { why: String::new() };
        let first_both = Tiny::sale(1).top_up(1).bought(1).bought(2);
        let of_another_sku = sold_out().sku(1).top_up(1).refused(3, "sold_out");
        assert_verdicts(
            CheckId::S8,
            vec![
                (
                    "sold out, topped up, sold out again",
                    sold_out().top_up(1).bought(3).refused(4, "sold_out"),
                    Pass,
                ),
                (
                    "topped up before the first was sold",
                    first_both.refused(3, "sold_out"),
                    Pass,
                ),
                (
                    "asked in the moment of the top-up's answer",
                    asked_at(17_999_999),
                    Pass,
                ),
                (
                    "a top-up that nobody answered",
                    sold_out()
                        .top_up(1)
                        .but_top_up(nobody_answered)
                        .refused(3, "sold_out"),
                    Pass,
                ),
                (
                    "of another SKU",
                    of_another_sku.with(|e| e.plan.sale.top_ups[0].sku = "s1".to_owned()),
                    Pass,
                ),
            ],
        );
    }

    #[test]
    fn sold_out_after_units_have_come_fails() {
        let sold_again = sold_out().top_up(1).bought(3).refused(4, "sold_out");
        let too_early = Tiny::sale(1).refused(2, "sold_out").bought(1);
        assert_verdicts(
            CheckId::S8,
            vec![
                (
                    "still called sold out",
                    sold_out().top_up(1).refused(3, "sold_out"),
                    Fail,
                ),
                (
                    "still called sold out, and sold later",
                    sold_out().top_up(1).refused(3, "sold_out").bought(4),
                    Fail,
                ),
                (
                    "called sold out too early after the second time",
                    sold_again.top_up(2).bought(5).refused(6, "sold_out"),
                    Fail,
                ),
                (
                    "called sold out before the first was sold, and all right afterwards",
                    too_early.top_up(1).bought(3).refused(4, "sold_out"),
                    Fail,
                ),
                ("asked just after it", asked_at(18_000_000), Fail),
            ],
        );
    }

    #[test]
    fn changes_that_were_refused_and_happened_fail() {
        let no = |tiny: Tiny| tiny.but(|one| one.outcome = Refused);
        let bought = || Tiny::sale(2).accepted(1);
        assert_verdicts(
            CheckId::S8,
            vec![
                ("no payment, paid", no(bought().pay(1)).order(1, Paid), Fail),
                (
                    "no cancellation, cancelled",
                    no(bought().cancel(1)).order(1, Cancelled),
                    Fail,
                ),
                (
                    "second payment, told paid",
                    no(bought().pay(1))
                        .but(|one| one.told = Some(Paid))
                        .order(1, Paid),
                    Pass,
                ),
                (
                    "refused once, then paid",
                    no(bought().pay(1)).pay(1).order(1, Paid),
                    Pass,
                ),
                (
                    "refused once, then nobody knows",
                    no(bought().pay(1))
                        .pay(1)
                        .but(|one| one.outcome = Unknown)
                        .order(1, Paid),
                    Pass,
                ),
                (
                    "refused, still open",
                    no(bought().pay(1)).order(1, Created),
                    Pass,
                ),
            ],
        );
    }

    #[test]
    fn what_is_not_known_is_inconclusive() {
        assert_verdicts(
            CheckId::S8,
            vec![
                (
                    "the takers may be missing",
                    Tiny::sale(2)
                        .bought(1)
                        .refused(2, "sold_out")
                        .with(|e| e.load.sent = 9),
                    Inconclusive,
                ),
                (
                    "no rule says sold out",
                    Tiny::sale(1)
                        .bought(1)
                        .with(|e| e.plan.target.answers[0].sold_out = false),
                    Inconclusive,
                ),
                (
                    "stores not read",
                    Tiny::sale(1)
                        .bought(1)
                        .with(|e| unread(&mut e.stores.end, "orders: gone")),
                    Inconclusive,
                ),
            ],
        );
    }

    #[test]
    fn counts_the_skus_that_were_called_sold_out() {
        let tiny = Tiny::sale(1).sku(1).sku(1).bought(1);
        let claimed = tiny.refused(2, "sold_out").refused(3, "sold_out");
        let detail = claimed.check(CheckId::S8).detail;
        assert_eq!(detail, "1 of 3 SKUs were called sold out.");
    }
}
