//! L4: stock that buyers wanted was sold, and what was left over can be bought.

use super::case::{Case, Checker, NOT_SET_UP};
use super::finding::Finding;
use super::ledger::Standing;
use super::purchases::Purchase;
use super::supply::SkuSupply;
use super::{CheckId, Witness};
use crate::drill::last_call::LastCallEnd;
use crate::drill::plan::Sku;
use crate::figures::signed;

pub struct SellThrough;

impl Checker for SellThrough {
    fn id(&self) -> CheckId {
        CheckId::L4
    }

    fn title(&self) -> &'static str {
        "Sell-through: wanted stock is sold, stock left over can be bought"
    }

    fn judge(&self, case: &Case<'_>) -> Finding {
        let mut finding = Finding::default();
        case.doubt_unless_read(&mut finding);
        if !case.is_complete() {
            return finding;
        }
        let (mut sold_out, mut unsold) = (0, 0);
        for (index, sku, supply) in case.skus() {
            let left = supply.units_signed() - case.ledger.live_units(&sku.id);
            if left <= 0 {
                sold_out += 1;
            } else {
                unsold += left;
                let of_sku = OfSku {
                    case,
                    index,
                    sku,
                    supply,
                    unsold: left,
                };
                of_sku.judge(&mut finding);
            }
        }
        let skus = case.supply.skus().len();
        finding.fact(format!("{sold_out} of {skus} SKUs sold out"));
        finding.fact(format!("{} units unsold", signed(unsold)));
        if let Some(call) = &case.evidence.last_call {
            let left = signed(call.units_left);
            finding.fact(format!("{left} units were left for the last call"));
        }
        finding
    }
}

/// A SKU with units in no live order.
#[derive(Clone, Copy)]
struct OfSku<'c> {
    case: &'c Case<'c>,
    index: usize,
    sku: &'c Sku,
    supply: &'c SkuSupply,
    unsold: i64,
}

impl OfSku<'_> {
    fn judge(self, finding: &mut Finding) {
        let Self {
            case, sku, unsold, ..
        } = self;
        if !case.was_set_up(&sku.id, sku.stock) {
            finding.doubt_about(&sku.id, NOT_SET_UP);
            return;
        }
        let stranded = unsold - buyable(case, sku, unsold);
        if stranded > 0 {
            finding.violation("SKU with stock that nobody can buy", || {
                self.witness(format!("{stranded} of them are not on sale in the cache"))
            });
        }
        if case.evidence.plan.expect.sell_out {
            self.judge_unsold(finding);
        }
    }

    /// The sale should have sold out: enough was wanted, and the rest did not come back just now.
    fn judge_unsold(self, finding: &mut Finding) {
        let Self {
            case,
            index,
            sku,
            supply,
            unsold,
        } = self;
        if unsold < i64::from(case.evidence.plan.population.quantity) {
            finding.fact(format!("{}: {unsold} left, less than one purchase", sku.id));
            return;
        }
        let late = late_returns(case, index);
        let Some(demand) = case.purchases.demand.sku(index) else {
            return;
        };
        if unsold <= late {
            finding.fact(format!(
                "{}: {unsold} units came back at the end and are on sale",
                sku.id
            ));
        } else if was_cut_short(case) {
            finding.doubt_about(&sku.id, "the sale was cut short before it could sell out");
        } else if demand.reaches_supply() {
            let name = "SKU not sold out although enough buyers came";
            finding.violation_of(unsold.unsigned_abs(), name, || {
                self.witness(format!(
                    "buyers wanted all {}; {late} units came back at the end",
                    supply.units
                ))
            });
        } else {
            let figures = format!("{}: {} of {}", sku.id, demand.units(), supply.units);
            finding.doubt_about(
                &figures,
                "buyers who got a decision wanted less than there was",
            );
        }
    }

    fn witness(self, text: String) -> Witness {
        let Self {
            sku,
            supply,
            unsold,
            ..
        } = self;
        let end = format!("at rest: {unsold} of them are in no live order");
        Witness {
            subject: format!("SKU {}", sku.id),
            events: vec![supply.to_string(), end, text],
        }
    }
}

/// Ctrl-C, in the sale or in the last call. That the last call ends early otherwise is as it should be.
fn was_cut_short(case: &Case<'_>) -> bool {
    let last = case.evidence.last_call.as_ref();
    let last_cut = last.is_some_and(|call| call.end == LastCallEnd::CutShort);
    case.evidence.load.aborted.is_some() || last_cut
}

/// Units the cache would sell, of those unsold; all of them where the target has no cache.
fn buyable(case: &Case<'_>, sku: &Sku, unsold: i64) -> i64 {
    if !case.evidence.plan.target.state.has_cache() {
        return unsold;
    }
    let row = case.end().cache.iter().find(|row| row.sku == sku.id);
    row.and_then(|row| row.available)
        .unwrap_or(0)
        .clamp(0, unsold)
}

/// Units given back too late to be sold again: later than the convergence time before the last buyer
/// came, or at a time that the history does not know.
fn late_returns(case: &Case<'_>, index: usize) -> i64 {
    let grace_ns = case
        .evidence
        .plan
        .expect
        .converge_ms_max
        .saturating_mul(1_000_000);
    let last = case
        .purchases
        .demand
        .sku(index)
        .map_or(0, |demand| demand.last_sent_ns);
    let in_time = last.saturating_sub(grace_ns);
    let late = |one: &&Purchase| {
        one.sku as usize == index
            && case.ledger.purchase_standing(one.key) == Some(Standing::Released)
            && one.cancelled_ns.is_none_or(|at| at >= in_time)
    };
    let returned = case.purchases.sorted().into_iter().filter(late);
    returned.map(|one| i64::from(one.quantity)).sum()
}

#[cfg(test)]
mod tests {
    use super::super::Verdict::{Fail, Inconclusive, Pass};
    use super::super::tiny_history::{Tiny, assert_verdicts, stock_row, unread};
    use super::*;
    use crate::drill::last_call::KEYS;
    use crate::drill::top_up::TopUpOutcome;
    use crate::history::final_state::OrderState::Cancelled;
    use crate::history::operation::Outcome;

    /// Judged as a sale that should sell out, with almost no time to converge.
    fn sell_out(tiny: Tiny) -> Tiny {
        tiny.with(|e| {
            e.plan.expect.sell_out = true;
            e.plan.expect.converge_ms_max = 1;
        })
    }

    fn cancelled(tiny: Tiny, key: u64) -> Tiny {
        tiny.accepted(key).cancel(key).order(key, Cancelled)
    }

    /// A unit comes back at 21 ms, may be on sale again 1 ms later, and the last buyer asks at this moment.
    fn last_asked_at(ns: u64) -> Tiny {
        let returned = cancelled(Tiny::sale(2).bought(1), 2);
        sell_out(returned.refused(3, "sold_out").but(|one| one.sent_ns = ns))
    }

    #[test]
    fn sold_or_for_sale_passes() {
        assert_verdicts(
            CheckId::L4,
            vec![
                (
                    "sold out",
                    sell_out(Tiny::sale(1).bought(1).refused(2, "sold_out")),
                    Pass,
                ),
                (
                    "units left, none expected sold",
                    Tiny::sale(3).bought(1),
                    Pass,
                ),
                (
                    "came back a moment too late for the last buyer",
                    last_asked_at(22_000_000),
                    Pass,
                ),
                (
                    "came back after the last buyer",
                    sell_out(cancelled(Tiny::sale(2).bought(1).refused(3, "sold_out"), 2)),
                    Pass,
                ),
            ],
        );
    }

    #[test]
    fn wanted_but_unsold_fails() {
        let refused = Tiny::sale(2)
            .bought(1)
            .refused(2, "sold_out")
            .refused(3, "sold_out");
        let early = cancelled(Tiny::sale(2).bought(1), 2)
            .refused(3, "sold_out")
            .refused(4, "sold_out");
        let other_sku = Tiny::sale(2)
            .sku(1)
            .bought(1)
            .refused(2, "sold_out")
            .refused(3, "sold_out");
        let other_sku = other_sku.accepted(4).but(|one| one.sku = 1).cancel(4);
        let other_sku = other_sku
            .order(4, Cancelled)
            .but_order(|row| row.sku = "s1".to_owned());
        let stranded = Tiny::sale(3)
            .bought(1)
            .with(|e| e.stores.end.cache[0].available = Some(1));
        let no_key = Tiny::sale(3)
            .bought(1)
            .with(|e| e.stores.end.cache[0].available = None);
        assert_verdicts(
            CheckId::L4,
            vec![
                ("told sold out with stock left", sell_out(refused), Fail),
                (
                    "came back in time, and was not sold again",
                    sell_out(early),
                    Fail,
                ),
                ("one of another SKU came back", sell_out(other_sku), Fail),
                (
                    "came back just in time to be sold again",
                    last_asked_at(22_000_001),
                    Fail,
                ),
                ("stranded", stranded, Fail),
                ("no stock key, stock left", no_key, Fail),
            ],
        );
    }

    #[test]
    fn what_came_is_wanted_by_those_who_came_after_it() {
        let sold_out = || {
            let tiny = Tiny::sale(1).bought(1);
            tiny.refused(2, "sold_out").refused(3, "sold_out")
        };
        let unknown = |tiny: Tiny| tiny.but_top_up(TopUpOutcome::Unknown { why: String::new() });
        assert_verdicts(
            CheckId::L4,
            vec![
                ("sold", sell_out(sold_out().top_up(1).bought(4)), Pass),
                (
                    "those before it were rightly sent away",
                    sell_out(sold_out().top_up(1)),
                    Inconclusive,
                ),
                (
                    "one too few came",
                    sell_out(sold_out().top_up(2).bought(4)),
                    Inconclusive,
                ),
                (
                    "sent away from them",
                    sell_out(sold_out().top_up(1).refused(4, "sold_out")),
                    Fail,
                ),
                (
                    "the one who bought and one sent away wanted both",
                    sell_out(sold_out().top_up(2).bought(4).refused(5, "sold_out")),
                    Fail,
                ),
                (
                    "sent away between the first top-up and the second",
                    sell_out(
                        sold_out()
                            .top_up(1)
                            .refused(4, "sold_out")
                            .top_up(1)
                            .bought(5),
                    ),
                    Inconclusive,
                ),
                (
                    "not in the cache",
                    sold_out()
                        .top_up(1)
                        .with(|e| e.stores.end.cache[0].available = Some(0)),
                    Fail,
                ),
                (
                    "nobody answered, and they came",
                    sell_out(unknown(sold_out().top_up(1)).refused(4, "sold_out")),
                    Inconclusive,
                ),
                (
                    "nobody answered, and they did not come",
                    sell_out(unknown(sold_out().top_up(1)).refused(4, "sold_out")).with(|e| {
                        e.stores.end.stock[0] = stock_row("s0", 1, 0);
                        e.stores.end.cache[0].available = Some(0);
                    }),
                    Pass,
                ),
            ],
        );
    }

    #[test]
    fn the_last_call_decides_whether_the_rest_can_be_bought() {
        let late = KEYS.start;
        let slow = || Tiny::sale(2).bought(1).refused(2, "sold_out");
        let called = |tiny: Tiny, end| sell_out(tiny.last_call(1, end));
        let served = || called(slow().bought(late), LastCallEnd::SoldOut);
        let refused = || slow().refused(late, "sold_out");
        let pairs = sell_out(slow()).with(|e| e.plan.population.quantity = 2);
        assert_verdicts(
            CheckId::L4,
            vec![
                ("sold at the last call", served(), Pass),
                ("one left, two a purchase", pairs, Pass),
                (
                    "refused at the last call",
                    called(refused(), LastCallEnd::NobodyServed),
                    Fail,
                ),
                (
                    "last call cut short",
                    called(refused(), LastCallEnd::CutShort),
                    Inconclusive,
                ),
            ],
        );
        let lost = served().with(|e| e.last_call.as_mut().unwrap().load.sent = 2);
        let lost_of_load = served().with(|e| e.load.sent = 3);
        assert_verdicts(
            CheckId::P1,
            vec![
                ("none lost", served(), Pass),
                ("records lost", lost, Inconclusive),
                (
                    "buys of the last call do not stand for those of the load",
                    lost_of_load,
                    Inconclusive,
                ),
            ],
        );
        let tally = served().judge(&[CheckId::L4]).tally;
        assert_eq!((tally.sold_units, tally.last_call_units), (2, 1));
    }

    #[test]
    fn a_doubt_tells_how_many_were_wanted() {
        let few = sell_out(Tiny::sale(3).bought(1).bought(2)).check(CheckId::L4);
        assert!(few.detail.contains("s0: 2 of 3"), "{}", few.detail);
    }

    #[test]
    fn too_few_buyers_decide_nothing() {
        let many = || {
            (10..20).fold(Tiny::sale(3).bought(1), |tiny, key| {
                tiny.refused(key, "paused")
            })
        };
        let early = (10..20).fold(Tiny::sale(3).bought(1), |tiny, key| {
            tiny.refused(key, "not_started")
        });
        let stubborn = (0..9).fold(Tiny::sale(3).bought(1).refused(2, "sold_out"), |tiny, _| {
            tiny.retried(Outcome::Refused, "sold_out")
        });
        let one_buyer = (10..20).fold(Tiny::sale(3).bought(1), |tiny, key| {
            tiny.refused(key, "limit_reached").but(|one| one.user = 1)
        });
        let second_wish = Tiny::sale(2).bought(1).refused(10, "limit_reached");
        let second_wish = second_wish.but(|one| one.user = 1);
        let cut_short = sell_out(Tiny::sale(2).bought(1).refused(2, "sold_out"))
            .refused(3, "sold_out")
            .with(|e| e.load.aborted = Some("Ctrl-C".into()));
        let clicks = (0..9).fold(Tiny::sale(3).bought(1), |tiny, _| tiny.accepted(1));
        let clicks_at_two = Tiny::sale(2).bought(1).accepted(1);
        let clicks_at_two = sell_out(clicks_at_two).with(|e| e.plan.sale.limit_per_user = 2);
        assert_verdicts(
            CheckId::L4,
            vec![
                (
                    "fewer buyers than stock",
                    sell_out(Tiny::sale(3).bought(1)),
                    Inconclusive,
                ),
                ("buyers met an outage", sell_out(many()), Inconclusive),
                ("buyers came too early", sell_out(early), Inconclusive),
                (
                    "one buyer clicked again and again",
                    sell_out(stubborn),
                    Inconclusive,
                ),
                ("cut short by Ctrl-C", cut_short, Inconclusive),
                ("one buyer at the limit", sell_out(one_buyer), Inconclusive),
                (
                    "one buyer at the limit, who wanted the last one",
                    sell_out(second_wish),
                    Inconclusive,
                ),
                ("clicks of one purchase", sell_out(clicks), Inconclusive),
                (
                    "clicks of one purchase by a buyer who might have two",
                    clicks_at_two,
                    Inconclusive,
                ),
                (
                    "nothing sold",
                    Tiny::sale(3).refused(1, "sold_out"),
                    Inconclusive,
                ),
                (
                    "not read",
                    Tiny::sale(1)
                        .bought(1)
                        .with(|e| unread(&mut e.stores.end, "stock")),
                    Inconclusive,
                ),
            ],
        );
    }

    #[test]
    fn counts_what_was_sold_out_and_what_is_left() {
        let tiny = Tiny::sale(1).sku(4).sku(3).bought(1);
        let one_of_s1 = tiny
            .bought(2)
            .but(|one| one.sku = 1)
            .but_order(|row| row.sku = "s1".to_owned());
        let detail = one_of_s1.last_call(7, LastCallEnd::NobodyServed);
        assert_eq!(
            detail.check(CheckId::L4).detail,
            "1 of 3 SKUs sold out; 6 units unsold; 7 units were left for the last call."
        );
    }
}
