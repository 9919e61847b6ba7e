//! S2: no more was promised to buyers than there was.
//!
//! Granted, per SKU: distinct purchases that were accepted, or whose outcome was unknown and which the
//! store shows as granted. Not: those given back (cancelled, expired), and those rejected with a reason
//! that says nothing had been promised. A broken promise counts: stock had been promised to it.

use std::collections::HashSet;

use super::case::{Case, Checker, NOT_SET_UP};
use super::finding::Finding;
use super::ledger::Standing;
use super::purchases::Purchase;
use super::supply::SkuSupply;
use super::{CheckId, Witness};
use crate::drill::plan::Sku;
use crate::figures::count;

pub struct AdmissionOversell;

/// Purchases of one SKU that were promised stock.
#[derive(Default)]
struct Granted<'p> {
    /// The store shows that stock was promised, or the buyer was told so and nothing can still change it.
    certain: Vec<&'p Purchase>,
    /// Accepted, no order yet: may still turn out as "nothing was promised".
    pending: Vec<&'p Purchase>,
    broken: u64,
}

impl<'p> Granted<'p> {
    /// The certain ones, as their buyers were told.
    fn in_order(&self) -> Vec<&'p Purchase> {
        let mut told = self.certain.clone();
        told.sort_by_key(|one| (told_ns(one), one.key));
        told
    }
}

impl Checker for AdmissionOversell {
    fn id(&self) -> CheckId {
        CheckId::S2
    }

    fn title(&self) -> &'static str {
        "No admission oversell: purchases promised to buyers fit the stock"
    }

    fn judge(&self, case: &Case<'_>) -> Finding {
        let mut finding = Finding::default();
        case.doubt_unless_read(&mut finding);
        if !case.is_complete() {
            return finding;
        }
        let (mut units, mut broken) = (0, 0);
        for (index, sku, supply) in case.skus() {
            let granted = granted(case, index);
            units += units_of(&granted.certain) + units_of(&granted.pending);
            broken += granted.broken;
            judge_sku(case, sku, supply, &granted, &mut finding);
        }
        finding.fact(format!(
            "{} units promised and not given back",
            count(units)
        ));
        finding.fact(format!(
            "{} of the purchases rejected later (broken promises)",
            count(broken)
        ));
        finding
    }
}

fn granted<'p>(case: &'p Case<'_>, sku: usize) -> Granted<'p> {
    let mut granted = Granted::default();
    let of_sku = case
        .purchases
        .sorted()
        .into_iter()
        .filter(|one| one.sku as usize == sku);
    for purchase in of_sku.filter(|one| one.may_be_applied()) {
        match case.ledger.purchase_standing(purchase.key) {
            Some(Standing::Live) => granted.certain.push(purchase),
            Some(Standing::BrokenPromise) => {
                granted.broken += 1;
                granted.certain.push(purchase);
            }
            Some(Standing::Released | Standing::NeverGranted) => {}
            None if purchase.accepted == 0 => {}
            None if case.is_queue_empty() => granted.certain.push(purchase),
            None => granted.pending.push(purchase),
        }
    }
    granted
}

fn judge_sku(
    case: &Case<'_>,
    sku: &Sku,
    supply: &SkuSupply,
    granted: &Granted<'_>,
    finding: &mut Finding,
) {
    let (certain, pending) = (units_of(&granted.certain), units_of(&granted.pending));
    if let Some(over) = first_beyond(granted, supply) {
        if case.was_set_up(&sku.id, sku.stock) {
            finding.violation_of(over.most_beyond, "SKU promised beyond its stock", || {
                beyond(case, sku, supply, granted, &over)
            });
        } else {
            finding.doubt_about(&sku.id, NOT_SET_UP);
        }
    } else if certain + pending > supply.units {
        let figures = format!(
            "{}: {certain} certain, {pending} undecided of {}",
            sku.id, supply.units
        );
        finding.doubt_about(&figures, "promises still undecided may exceed the stock");
    }
}

/// The promise with which more units were promised than there can have been by then.
struct Over {
    key: u64,
    promised: u64,
    of: u64,
    /// By so many at the worst moment.
    most_beyond: u64,
}

/// Whoever holds units at rest has held them since the answer, so that those promised early must fit what was there early:
/// units that came later do not make up for them. When a buyer without an answer got units is not known.
fn first_beyond(granted: &Granted<'_>, supply: &SkuSupply) -> Option<Over> {
    let mut over: Option<Over> = None;
    let mut promised = 0;
    for one in granted.in_order() {
        promised += u64::from(one.quantity);
        let of = supply.most_by(told_ns(one));
        if promised > of {
            let first = over.get_or_insert(Over {
                key: one.key,
                promised,
                of,
                most_beyond: 0,
            });
            first.most_beyond = first.most_beyond.max(promised - of);
        }
    }
    over
}

fn told_ns(purchase: &Purchase) -> u64 {
    purchase.accepted_ns.unwrap_or(u64::MAX)
}

fn units_of(purchases: &[&Purchase]) -> u64 {
    purchases.iter().map(|one| u64::from(one.quantity)).sum()
}

/// The promise that went beyond the stock, in the order in which buyers were told.
fn beyond(
    case: &Case<'_>,
    sku: &Sku,
    supply: &SkuSupply,
    granted: &Granted<'_>,
    over: &Over,
) -> Witness {
    let told = granted.in_order();
    let promised = format!(
        "{supply}, {} promised and not given back",
        units_of(&granted.certain)
    );
    let mut events = vec![promised];
    let holders: HashSet<u64> = told.iter().map(|one| one.user).collect();
    events.push(format!(
        "to {} buyers; the first promise beyond the stock:",
        holders.len()
    ));
    let Over { promised, of, .. } = over;
    let end = format!("with it {promised} units were promised of {of}");
    events.extend(case.chain(over.key, end));
    let is_broken =
        |one: &&&Purchase| case.ledger.purchase_standing(one.key) == Some(Standing::BrokenPromise);
    if let Some(one) = told.iter().find(is_broken) {
        events.push("the first promise that could not be kept:".to_owned());
        events.extend(case.chain(one.key, "the buyer was told yes, then no".to_owned()));
    }
    Witness {
        subject: format!("SKU {}", sku.id),
        events,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Place;
    use super::super::Verdict::{Fail, Inconclusive, Pass};
    use super::super::tiny_history::{Tiny, assert_verdicts, unread};
    use super::*;
    use crate::history::final_state::OrderState::{Cancelled, Created, Expired};
    use crate::load::population::user_id;

    #[test]
    fn promises_within_the_stock_pass() {
        assert_verdicts(
            CheckId::S2,
            vec![
                (
                    "sold out",
                    Tiny::sale(2).bought(1).bought(2).refused(3, "sold_out"),
                    Pass,
                ),
                (
                    "clicks of one purchase are one",
                    Tiny::sale(1).bought(1).accepted(1).accepted(1),
                    Pass,
                ),
                (
                    "cancelled and expired ones were given back",
                    Tiny::sale(1)
                        .accepted(1)
                        .cancel(1)
                        .order(1, Cancelled)
                        .accepted(2)
                        .order(2, Expired)
                        .bought(3),
                    Pass,
                ),
                (
                    "never granted",
                    Tiny::sale(1)
                        .bought(1)
                        .accepted(2)
                        .rejected(2, "never_reserved"),
                    Pass,
                ),
                (
                    "unknown, not applied",
                    Tiny::sale(1).bought(1).unknown(2),
                    Pass,
                ),
                (
                    "unknown, held by the cache and not applied",
                    Tiny::sale(1).bought(1).unknown(2).with(|e| {
                        e.stores.end.cache[0].held.insert(user_id(2), 1);
                    }),
                    Pass,
                ),
                (
                    "unknown and accepted is one",
                    Tiny::sale(1).unknown(1).bought(1),
                    Pass,
                ),
                (
                    "unknown, never granted",
                    Tiny::sale(1)
                        .bought(1)
                        .unknown(2)
                        .rejected(2, "never_reserved"),
                    Pass,
                ),
            ],
        );
    }

    #[test]
    fn promises_must_fit_what_was_there_when_they_were_made() {
        let sold_out = || Tiny::sale(2).bought(1).bought(2);
        let in_doubt = |tiny: Tiny| tiny.unknown(9).order(9, Created);
        assert_verdicts(
            CheckId::S2,
            vec![
                (
                    "what came was sold",
                    sold_out().top_up(2).bought(3).bought(4),
                    Pass,
                ),
                (
                    "one more than came",
                    sold_out().top_up(1).bought(3).bought(4),
                    Fail,
                ),
                (
                    "one too many before they came, though all fit in the end",
                    sold_out().bought(3).top_up(2).bought(4),
                    Fail,
                ),
                (
                    "one while they came",
                    sold_out().top_up(1).bought(3).but(|one| {
                        one.sent_ns = 11_000_000;
                        one.completed_ns = 12_000_000;
                    }),
                    Pass,
                ),
                (
                    "given back before they came, and sold again",
                    Tiny::sale(1)
                        .accepted(1)
                        .cancel(1)
                        .order(1, Cancelled)
                        .bought(2)
                        .top_up(1)
                        .bought(3),
                    Pass,
                ),
                (
                    "one asked before, and when it was granted nobody knows",
                    in_doubt(sold_out()).top_up(1),
                    Pass,
                ),
                (
                    "the same, and one more",
                    in_doubt(sold_out()).top_up(1).bought(3),
                    Fail,
                ),
            ],
        );
        let early = sold_out().bought(3).top_up(2).bought(4).check(CheckId::S2);
        let events = early.witnesses[0].witness.events.join("\n");
        assert!(
            events.contains("with it 3 units were promised of 2"),
            "{events}"
        );
    }

    #[test]
    fn promises_beyond_the_stock_fail() {
        assert_verdicts(
            CheckId::S2,
            vec![
                (
                    "a broken promise was a promise",
                    Tiny::sale(1)
                        .bought(1)
                        .accepted(2)
                        .rejected(2, "stock_exhausted"),
                    Fail,
                ),
                (
                    "a lost order was a promise",
                    Tiny::sale(1).bought(1).accepted(2),
                    Fail,
                ),
                (
                    "an unknown one that happened",
                    Tiny::sale(1).bought(1).unknown(2).order(2, Created),
                    Fail,
                ),
                (
                    "an unknown one that was promised, then rejected",
                    Tiny::sale(1)
                        .bought(1)
                        .unknown(2)
                        .rejected(2, "stock_exhausted"),
                    Fail,
                ),
                (
                    "another SKU's spare stock does not help",
                    Tiny::sale(1).sku(9).bought(1).bought(2),
                    Fail,
                ),
                (
                    "units, not purchases",
                    Tiny::sale(3)
                        .bought(1)
                        .but(|one| one.quantity = 2)
                        .bought(2)
                        .but(|one| one.quantity = 2),
                    Fail,
                ),
            ],
        );
    }

    #[test]
    fn units_of_all_skus_are_told_together() {
        let sold = Tiny::sale(9)
            .sku(9)
            .bought(1)
            .bought(2)
            .accepted(3)
            .but(|one| one.sku = 1)
            .rejected(3, "stock_exhausted")
            .but_order(|row| row.sku = "s1".to_owned());
        let detail = sold.check(CheckId::S2).detail.to_lowercase();
        assert!(detail.contains("3 units promised"), "{detail}");
        assert!(detail.contains("1 of the purchases rejected"), "{detail}");
        let waiting = Tiny::sale(9)
            .bought(1)
            .accepted(2)
            .with(|e| e.stores.end.queue_backlog = Some(1));
        let detail = waiting.check(CheckId::S2).detail;
        assert!(detail.contains("2 units promised"), "{detail}");
    }

    #[test]
    fn undecided_promises_are_not_judged() {
        let waiting = || {
            Tiny::sale(1)
                .bought(1)
                .accepted(2)
                .with(|e| e.stores.end.queue_backlog = Some(1))
        };
        assert_verdicts(
            CheckId::S2,
            vec![
                (
                    "still queued: may yet be never granted",
                    waiting(),
                    Inconclusive,
                ),
                (
                    "still queued, and fits whatever becomes of it",
                    Tiny::sale(2)
                        .bought(1)
                        .accepted(2)
                        .with(|e| e.stores.end.queue_backlog = Some(1)),
                    Pass,
                ),
                (
                    "nothing accepted",
                    Tiny::sale(1).refused(1, "sold_out"),
                    Inconclusive,
                ),
                (
                    "orders not read",
                    Tiny::sale(1)
                        .bought(1)
                        .bought(2)
                        .with(|e| unread(&mut e.stores.end, "orders: gone")),
                    Inconclusive,
                ),
            ],
        );
    }

    #[test]
    fn the_worst_is_the_sku_that_was_promised_beyond_its_stock_by_most_units() {
        let promised = |tiny: Tiny, key, sku: u32, units| {
            let tiny = tiny.accepted(key).but(|one| {
                one.sku = sku;
                one.quantity = units;
            });
            tiny.order(key, Created).but_order(|row| {
                row.sku = format!("s{sku}");
                row.quantity = units;
            })
        };
        let sold = promised(Tiny::sale(5).sku(1).sku(1), 1, 0, 6);
        let sold = promised(promised(sold, 2, 1, 3), 3, 2, 2);
        let witnesses = sold.check(CheckId::S2).witnesses;
        let subjects = witnesses.iter().map(|one| one.witness.subject.as_str());
        assert_eq!(subjects.collect::<Vec<_>>(), ["SKU s0", "SKU s1", "SKU s2"]);
        assert_eq!(witnesses[1].place, Place::Worst);
    }

    #[test]
    fn the_witness_is_the_first_promise_beyond_the_stock() {
        let tiny = Tiny::sale(2)
            .bought(1)
            .bought(2)
            .accepted(3)
            .rejected(3, "stock_exhausted");
        let witness = tiny.check(CheckId::S2).witnesses.remove(0).witness;
        assert!(
            witness.events[2].contains(&format!("{} buys 1 of s0: accepted, order o3", user_id(3))),
            "{witness:#?}"
        );
        assert!(
            witness.events[3].contains("rejected (stock_exhausted)"),
            "{witness:#?}"
        );
    }

    #[test]
    fn the_witness_shows_the_first_broken_promise_if_there_is_one() {
        let broken_promise = |tiny: Tiny| {
            let witness = tiny.check(CheckId::S2).witnesses.remove(0).witness;
            let title = "the first promise that could not be kept:";
            let mut after = witness.events.into_iter().skip_while(|one| one != title);
            after.nth(1).map(|one| one.contains("order o2"))
        };
        let broken = Tiny::sale(1).bought(1).accepted(2);
        let broken = broken.rejected(2, "stock_exhausted").bought(3);
        assert_eq!(broken_promise(broken), Some(true));
        assert_eq!(broken_promise(Tiny::sale(1).bought(1).bought(2)), None);
    }
}
