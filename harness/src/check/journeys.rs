//! Part of P1: the journeys that the plan asks for were made, and all of them are known.

use super::case::Case;
use super::finding::Finding;
use crate::figures::count;

/// Says what makes the run no valid test of its journeys; nothing where the plan has none.
pub fn judge(case: &Case<'_>, finding: &mut Finding) {
    if case.evidence.plan.journeys.is_none() {
        return;
    }
    let Some(journeys) = &case.evidence.journeys else {
        finding.doubt("nothing is known of the journeys".to_owned());
        return;
    };
    if let Some(error) = &journeys.error {
        finding.doubt(format!("journeys: {error}"));
    }
    match (journeys.unended(), journeys.whole()) {
        (0, 0) => finding.doubt("no journey went all the way".to_owned()),
        (0, whole) => finding.fact(format!("{} whole journeys", count(whole))),
        (lost, _) => finding.doubt(format!("{} journeys never ended", count(lost))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::CheckId::{L1, L4, P1, S2, S5, S6};
    use super::super::Verdict::{Fail, Inconclusive, Pass};
    use super::super::tiny_history::{Tiny, assert_verdicts};
    use crate::history::final_state::OrderState::{Cancelled, Created, Paid};
    use crate::journeys::JourneySummary;
    use crate::journeys::step::End;
    use crate::load::population::user_id;

    /// Keys of journeys.
    const A: u64 = 1 << 62;
    const B: u64 = A + 1;

    fn summary(change: impl FnOnce(&mut JourneySummary)) -> Tiny {
        let tiny = Tiny::sale(2).bought(1).bought(A).journeys();
        tiny.with(|e| change(e.journeys.as_mut().unwrap()))
    }

    #[test]
    fn journeys_that_were_made_are_a_valid_test() {
        assert_verdicts(
            P1,
            vec![
                ("as planned", summary(|_| ()), Pass),
                ("none planned", Tiny::sale(1).bought(1), Pass),
                (
                    "Goose failed",
                    summary(|one| one.error = Some("Goose failed: no host".to_owned())),
                    Inconclusive,
                ),
                (
                    "nobody came",
                    summary(|one| *one = JourneySummary::default()),
                    Inconclusive,
                ),
                (
                    "all were cut short",
                    summary(|one| one.ends = [(End::CutShort, 1)].into()),
                    Inconclusive,
                ),
                (
                    "one was lost on the way",
                    summary(|one| one.started = 2),
                    Inconclusive,
                ),
                (
                    "records are missing",
                    summary(|one| one.buys = 2),
                    Inconclusive,
                ),
                (
                    "buys of journeys do not stand for those of the load",
                    summary(|_| ()).with(|e| e.load.sent = 2),
                    Inconclusive,
                ),
                (
                    "no figures",
                    Tiny::sale(2)
                        .bought(1)
                        .journeys()
                        .with(|e| e.journeys = None),
                    Inconclusive,
                ),
            ],
        );
    }

    #[test]
    fn purchases_of_journeys_are_judged_with_the_others() {
        let sale = |stock| Tiny::sale(stock).journeys();
        assert_verdicts(
            S2,
            vec![
                ("sold out together", sale(2).bought(1).bought(A), Pass),
                ("oversold together", sale(1).bought(1).bought(A), Fail),
                (
                    "one given back",
                    sale(1).accepted(A).cancel(A).order(A, Cancelled).bought(1),
                    Pass,
                ),
            ],
        );
        assert_verdicts(
            L1,
            vec![
                (
                    "kept",
                    sale(2).bought(1).accepted(A).pay(A).order(A, Paid),
                    Pass,
                ),
                ("lost", sale(2).bought(1).accepted(A), Fail),
                (
                    "paid in vain",
                    sale(2).bought(1).accepted(A).pay(A).order(A, Created),
                    Fail,
                ),
            ],
        );
        assert_verdicts(
            S6,
            vec![
                ("asked for", sale(2).bought(1).unknown(A), Pass),
                ("never asked for", sale(2).bought(1).order(A, Created), Fail),
                (
                    "refused",
                    sale(2).bought(1).refused(A, "sold_out").order(A, Created),
                    Fail,
                ),
            ],
        );
    }

    #[test]
    fn buyers_of_journeys_have_their_limit_and_their_demand() {
        let by_seven = |tiny: Tiny| tiny.but(|one| one.user = 7);
        let first = || {
            let one = by_seven(Tiny::sale(3).journeys().bought(1).bought(A));
            one.but_order(|row| row.user = user_id(7))
        };
        let second = by_seven(first().bought(B)).but_order(|row| row.user = user_id(7));
        let refused = by_seven(first().refused(B, "limit_reached"));
        assert_verdicts(
            S5,
            vec![("one of two", refused, Pass), ("two of two", second, Fail)],
        );
        let unsold = Tiny::sale(2).journeys().bought(1).refused(A, "sold_out");
        let unsold = unsold.with(|e| e.plan.expect.sell_out = true);
        assert_verdicts(
            L4,
            vec![("the second unit was wanted on a journey", unsold, Fail)],
        );
    }
}
