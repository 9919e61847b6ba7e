//! L3: at rest, and in time, store and cache tell the same story and nothing is left on the way.

use super::case::{Case, Checker, NOT_SET_UP};
use super::finding::Finding;
use super::{CheckId, Witness};
use crate::figures::ms;
use crate::observe::agreement::differences;

pub struct Conservation;

impl Checker for Conservation {
    fn id(&self) -> CheckId {
        CheckId::L3
    }

    fn title(&self) -> &'static str {
        "Conservation at rest: store and cache agree, the queue is empty, in time"
    }

    fn judge(&self, case: &Case<'_>) -> Finding {
        let mut finding = Finding::default();
        case.doubt_unless_read(&mut finding);
        let skus = &case.evidence.plan.sale.skus;
        for sku in skus
            .iter()
            .filter(|sku| !case.was_set_up(&sku.id, sku.stock))
        {
            finding.doubt_about(&sku.id, NOT_SET_UP);
        }
        if finding.has_doubts() {
            return finding;
        }
        let found = differences(&case.evidence.plan, case.end());
        for one in &found {
            finding.violation(one.kind.name(), || Witness {
                subject: one.subject.clone(),
                events: vec![format!("at rest: {}", one.what)],
            });
        }
        judge_queue(case, &mut finding);
        judge_time(case, found.is_empty(), &mut finding);
        finding
    }
}

fn judge_queue(case: &Case<'_>, finding: &mut Finding) {
    match case.end().queue_backlog {
        Some(0) => finding.fact("queue empty".to_owned()),
        None => finding.doubt("the queue could not be read".to_owned()),
        Some(left) => finding.violation("queue that did not drain", || Witness {
            subject: "queue".to_owned(),
            events: vec![format!(
                "at the deadline: {left} messages committed and not consumed"
            )],
        }),
    }
}

fn judge_time(case: &Case<'_>, agree: bool, finding: &mut Finding) {
    let max = case.evidence.plan.expect.converge_ms_max;
    match case.evidence.stores.converged_ms {
        Some(took) if took <= max => {
            finding.fact(format!(
                "agreed {} after load and faults had ended, {} allowed",
                ms(took),
                ms(max)
            ));
        }
        Some(took) => finding.violation("late convergence", || Witness {
            subject: "stores".to_owned(),
            events: vec![format!("agreed after {}, {} allowed", ms(took), ms(max))],
        }),
        None if agree && case.is_queue_empty() => {
            finding.doubt("the last reading agrees, but not several in a row".to_owned());
        }
        None => finding.fact("the stores did not agree within the time allowed".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict::{Fail, Inconclusive, Pass};
    use super::super::tiny_history::{Tiny, assert_verdicts, stock_row, unread};
    use super::super::{CheckResult, Evidence};
    use super::*;

    fn broken(change: impl FnOnce(&mut Evidence)) -> Tiny {
        Tiny::sale(3).bought(1).bought(2).with(change)
    }

    #[test]
    fn agreement_passes() {
        let sold_out = Tiny::sale(1).bought(1);
        assert_verdicts(
            CheckId::L3,
            vec![
                ("agree", broken(|_| ()), Pass),
                (
                    "in the last moment allowed",
                    broken(|e| e.stores.converged_ms = Some(1_000)),
                    Pass,
                ),
                (
                    "no stock key is no stock",
                    sold_out.with(|e| e.stores.end.cache[0].available = None),
                    Pass,
                ),
                (
                    "a hold of zero is none",
                    broken(|e| {
                        e.stores.end.cache[0].held.insert("u9".to_owned(), 0);
                    }),
                    Pass,
                ),
                (
                    "a target without a cache",
                    broken(|e| {
                        e.plan.target.state.cache_available.clear();
                        e.stores.end.cache.clear();
                    }),
                    Pass,
                ),
            ],
        );
    }

    #[test]
    fn units_that_came_to_one_store_only_fail() {
        let topped_up = || Tiny::sale(2).bought(1).top_up(2).bought(2);
        let mysql_only = topped_up().with(|e| e.stores.end.cache[0].available = Some(0));
        let cache_only = topped_up().with(|e| e.stores.end.stock[0] = stock_row("s0", 2, 0));
        assert_verdicts(
            CheckId::L3,
            vec![
                ("in both", topped_up(), Pass),
                ("in the store only", mysql_only, Fail),
                ("in the cache only", cache_only, Fail),
            ],
        );
    }

    #[test]
    fn a_message_that_never_arrived_fails() {
        let lost = broken(|e| e.stores.end.undelivered.push("o1".to_owned()));
        assert_verdicts(CheckId::L3, vec![("undelivered", lost, Fail)]);
    }

    #[test]
    fn every_disagreement_fails() {
        assert_verdicts(
            CheckId::L3,
            vec![
                (
                    "stranded unit",
                    broken(|e| e.stores.end.cache[0].available = Some(0)),
                    Fail,
                ),
                (
                    "surplus unit",
                    broken(|e| e.stores.end.cache[0].available = Some(2)),
                    Fail,
                ),
                (
                    "negative cache",
                    broken(|e| e.stores.end.cache[0].available = Some(-1)),
                    Fail,
                ),
                (
                    "stock key gone",
                    broken(|e| e.stores.end.cache[0].available = None),
                    Fail,
                ),
                (
                    "cache row gone",
                    broken(|e| e.stores.end.cache.clear()),
                    Fail,
                ),
                (
                    "stock row gone",
                    broken(|e| e.stores.end.stock.clear()),
                    Fail,
                ),
                (
                    "ledger break",
                    broken(|e| e.stores.end.stock[0].total = 9),
                    Fail,
                ),
                (
                    "holds gone",
                    broken(|e| e.stores.end.cache[0].held.clear()),
                    Fail,
                ),
                (
                    "hold without an order",
                    broken(|e| {
                        e.stores.end.cache[0].held.insert("u9".to_owned(), 1);
                    }),
                    Fail,
                ),
                (
                    "queue not drained",
                    broken(|e| e.stores.end.queue_backlog = Some(4)),
                    Fail,
                ),
                (
                    "late",
                    broken(|e| e.stores.converged_ms = Some(1_001)),
                    Fail,
                ),
                (
                    "never",
                    broken(|e| {
                        e.stores.converged_ms = None;
                        e.stores.end.cache[0].available = Some(0);
                    }),
                    Fail,
                ),
            ],
        );
    }

    #[test]
    fn a_partial_reading_is_not_judged() {
        assert_verdicts(
            CheckId::L3,
            vec![
                (
                    "a store not read",
                    broken(|e| {
                        e.stores.end.cache.clear();
                        unread(&mut e.stores.end, "cache s0: gone");
                    }),
                    Inconclusive,
                ),
                (
                    "queue not read",
                    broken(|e| e.stores.end.queue_backlog = None),
                    Inconclusive,
                ),
                (
                    "agreed once only",
                    broken(|e| e.stores.converged_ms = None),
                    Inconclusive,
                ),
                (
                    "never set up",
                    broken(|e| {
                        e.stores.start.stock.clear();
                        e.stores.end.stock.clear();
                    }),
                    Inconclusive,
                ),
                (
                    "nothing sold",
                    Tiny::sale(3).refused(1, "sold_out"),
                    Inconclusive,
                ),
            ],
        );
    }

    #[test]
    fn names_what_differs() {
        let result: CheckResult =
            broken(|e| e.stores.end.cache[0].available = None).check(CheckId::L3);
        assert_eq!(
            result.witnesses[0].witness.events,
            ["at rest: the cache has no stock key, the store 1 available"]
        );
    }

    #[test]
    fn tells_when_the_stores_agreed() {
        let told = |change: fn(&mut Evidence)| broken(change).check(CheckId::L3).detail;
        assert_eq!(
            told(|_| ()),
            "Queue empty; agreed 100 ms after load and faults had ended, 1.0 s allowed."
        );
        let never = told(|e| {
            e.stores.converged_ms = None;
            e.stores.end.cache[0].available = Some(0);
        });
        let not_drained = told(|e| {
            e.stores.converged_ms = None;
            e.stores.end.queue_backlog = Some(4);
        });
        for detail in [never, not_drained] {
            let end = "the stores did not agree within the time allowed.";
            assert!(detail.ends_with(end), "{detail}");
            assert!(!detail.contains("the last reading agrees"), "{detail}");
        }
    }
}
