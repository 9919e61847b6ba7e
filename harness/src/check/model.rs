//! A small model of a sale that does everything right, for properties of the checkers: whatever buyers do, none of
//! them fails; after one defect, the one that it belongs to does.

use proptest::prelude::*;

use super::tiny_history::{Tiny, stock_row};
use super::{CheckId, CheckResult, Verdict};
use crate::drill::top_up::TopUpOutcome;
use crate::history::final_state::OrderState::{self, Cancelled, Created, Paid};
use crate::history::operation::Outcome::{Refused, Unknown};
use crate::load::population::user_id;

const ALL: [CheckId; 13] = [
    CheckId::S1,
    CheckId::S2,
    CheckId::S3,
    CheckId::S4,
    CheckId::S5,
    CheckId::S6,
    CheckId::S7,
    CheckId::S8,
    CheckId::L1,
    CheckId::L2,
    CheckId::L3,
    CheckId::L4,
    CheckId::L6,
];

/// What a buyer does, or that units come; which buyer, and whether the answer comes through, are numbers that fit any number of buyers.
#[derive(Debug, Clone, Copy)]
enum Act {
    Come,
    ClickAgain(usize),
    Pay(usize),
    Cancel(usize),
    Ask(usize),
    TopUp(u32),
}

#[derive(Debug, Clone, Copy)]
struct Event {
    act: Act,
    /// 0: the answer is lost; 1: the service puts the buyer off.
    luck: u8,
}

struct Buyer {
    key: u64,
    /// None: the service has no order of theirs.
    state: Option<OrderState>,
    /// An answer with an order id came.
    knows: bool,
}

struct Sale {
    /// Some, but within a step.
    tiny: Option<Tiny>,
    total: u32,
    available: u32,
    buyers: Vec<Buyer>,
}

impl Sale {
    fn new(stock: u32) -> Self {
        Self {
            tiny: Some(Tiny::sale(stock)),
            total: stock,
            available: stock,
            buyers: Vec::new(),
        }
    }

    fn record(&mut self, step: impl FnOnce(Tiny) -> Tiny) {
        self.tiny = self.tiny.take().map(step);
    }

    fn act(&mut self, Event { act, luck }: Event) {
        match act {
            Act::TopUp(units) => self.top_up(units, luck),
            Act::Come => {
                let at = self.welcome();
                self.buy(at, luck);
            }
            Act::ClickAgain(at) | Act::Pay(at) | Act::Cancel(at) | Act::Ask(at) => {
                let Some(at) = at.checked_rem(self.buyers.len()) else {
                    return;
                };
                match act {
                    Act::Pay(_) => self.change(at, luck, Paid),
                    Act::Cancel(_) => self.change(at, luck, Cancelled),
                    Act::Ask(_) => self.ask(at),
                    _ => self.buy(at, luck),
                }
            }
        }
    }

    fn welcome(&mut self) -> usize {
        let at = self.buyers.len();
        self.buyers.push(Buyer {
            key: at as u64 + 1,
            state: None,
            knows: false,
        });
        at
    }

    /// Units come, or are refused, or nobody is told whether they came.
    fn top_up(&mut self, units: u32, luck: u8) {
        let why = String::new();
        let (comes, outcome) = match luck {
            0 => (true, Some(TopUpOutcome::Unknown { why })),
            1 => (false, Some(TopUpOutcome::Refused { why })),
            2 => (false, Some(TopUpOutcome::Unknown { why })),
            _ => (true, None),
        };
        if comes {
            self.available += units;
            self.total += units;
        }
        self.record(|tiny| match outcome {
            Some(outcome) => tiny.top_up(units).but_top_up(outcome),
            None => tiny.top_up(units),
        });
    }

    fn buy(&mut self, at: usize, luck: u8) {
        let key = self.buyers[at].key;
        if self.buyers[at].state.is_none() {
            if luck == 1 {
                return self.record(|tiny| tiny.refused(key, "paused"));
            }
            if self.available == 0 {
                return self.record(|tiny| tiny.refused(key, "sold_out"));
            }
            self.available -= 1;
            self.buyers[at].state = Some(Created);
        }
        if luck == 0 {
            return self.record(|tiny| tiny.unknown(key));
        }
        self.buyers[at].knows = true;
        self.record(|tiny| tiny.accepted(key));
    }

    /// Pays or cancels; the first of both wins.
    fn change(&mut self, at: usize, luck: u8, to: OrderState) {
        let buyer = &mut self.buyers[at];
        let (true, Some(state)) = (buyer.knows, buyer.state) else {
            return;
        };
        let key = buyer.key;
        let done = state == Created;
        if done {
            buyer.state = Some(to);
            self.available += u32::from(to == Cancelled);
        }
        self.record(|tiny| {
            let tiny = if to == Paid {
                tiny.pay(key)
            } else {
                tiny.cancel(key)
            };
            tiny.but(|one| match (luck, done) {
                (0, _) => one.outcome = Unknown,
                (_, true) => {}
                (_, false) => {
                    one.outcome = Refused;
                    one.told = Some(state);
                }
            })
        });
    }

    fn ask(&mut self, at: usize) {
        let Buyer { key, state, knows } = self.buyers[at];
        if let (true, Some(state)) = (knows, state) {
            self.record(|tiny| tiny.told(key, state));
        }
    }

    /// Everything applied, nothing on its way.
    fn at_rest(mut self) -> (Tiny, Vec<Buyer>) {
        for at in 0..self.buyers.len() {
            let key = self.buyers[at].key;
            if let Some(state) = self.buyers[at].state {
                self.record(|tiny| tiny.order(key, state));
            }
        }
        let (total, available) = (self.total.into(), self.available.into());
        self.record(|tiny| {
            tiny.with(|e| {
                e.stores.end.stock[0] = stock_row("s0", total, available);
                e.stores.end.cache[0].available = Some(available);
            })
        });
        (self.tiny.expect("every step gives it back"), self.buyers)
    }
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let act = prop_oneof![
        3 => Just(Act::Come),
        1 => any::<usize>().prop_map(Act::ClickAgain),
        1 => any::<usize>().prop_map(Act::Pay),
        1 => any::<usize>().prop_map(Act::Cancel),
        1 => any::<usize>().prop_map(Act::Ask),
        1 => (1_u32..4).prop_map(Act::TopUp),
    ];
    let event = (act, 0_u8..8).prop_map(|(act, luck)| Event { act, luck });
    proptest::collection::vec(event, 0..40)
}

fn sale(stock: u32, events: &[Event]) -> (Tiny, Vec<Buyer>) {
    let mut sale = Sale::new(stock);
    events.iter().for_each(|event| sale.act(*event));
    sale.at_rest()
}

/// All units that came to be.
fn units(tiny: &Tiny) -> u64 {
    tiny.evidence.stores.end.stock[0].total.unsigned_abs()
}

fn failed(tiny: Tiny) -> Vec<CheckResult> {
    let checks = tiny.judge(&ALL).checks;
    checks
        .into_iter()
        .filter(|check| check.verdict == Verdict::Fail)
        .collect()
}

fn fails(tiny: Tiny, check: CheckId) -> bool {
    failed(tiny).iter().any(|one| one.id == check)
}

/// The first buyer of whom this holds.
fn first(buyers: &[Buyer], holds: impl Fn(&Buyer) -> bool) -> Option<u64> {
    buyers.iter().find(|one| holds(one)).map(|one| one.key)
}

proptest! {
    #[test]
    fn a_right_sale_is_never_failed(stock in 0_u32..8, events in events()) {
        let (tiny, _) = sale(stock, &events);
        let failed = failed(tiny);
        prop_assert!(failed.is_empty(), "{failed:#?}");
    }

    #[test]
    fn one_order_too_many_is_seen(stock in 0_u32..8, events in events()) {
        let (mut tiny, buyers) = sale(stock, &events);
        let live = buyers.iter().filter(|one| one.state.is_some_and(OrderState::is_live));
        for key in 1_000..=1_000 + units(&tiny) - live.count() as u64 {
            tiny = tiny.bought(key);
        }
        let failed: Vec<CheckId> = failed(tiny).iter().map(|one| one.id).collect();
        prop_assert!(failed.contains(&CheckId::S1) && failed.contains(&CheckId::S2), "{failed:?}");
    }

    #[test]
    fn a_lost_order_is_seen(stock in 1_u32..8, events in events()) {
        let (tiny, buyers) = sale(stock, &events);
        if let Some(key) = first(&buyers, |one| one.knows) {
            let lost = tiny.without_order(key);
            prop_assert!(fails(lost, CheckId::L1));
        }
    }

    #[test]
    fn a_second_order_of_one_purchase_is_seen(stock in 1_u32..8, events in events()) {
        let (tiny, buyers) = sale(stock, &events);
        if let Some(key) = first(&buyers, |one| one.state.is_some()) {
            let twice = tiny.order(key, Created).but_order(|row| row.order_id = "other".to_owned());
            prop_assert!(fails(twice, CheckId::S4));
        }
    }

    #[test]
    fn an_order_that_nobody_may_have_is_seen(stock in 1_u32..8, events in events()) {
        let (tiny, buyers) = sale(stock, &events);
        let refused = first(&buyers, |one| one.state.is_none()).unwrap_or(1_000);
        prop_assert!(fails(tiny.order(refused, Created), CheckId::S6));
    }

    #[test]
    fn more_than_the_limit_is_seen(stock in 1_u32..8, events in events()) {
        let (tiny, buyers) = sale(stock, &events);
        if let Some(key) = first(&buyers, |one| one.state.is_some_and(OrderState::is_live)) {
            let second = tiny.bought(1_000).but(|one| one.user = key).but_order(|row| row.user = user_id(key));
            prop_assert!(fails(second, CheckId::S5));
        }
    }

    #[test]
    fn more_paid_than_there_was_is_seen(stock in 1_u32..8, events in events()) {
        let (mut tiny, _) = sale(stock, &events);
        for key in 1_000..=1_000 + units(&tiny) {
            tiny = tiny.accepted(key).pay(key).order(key, Paid);
        }
        prop_assert!(fails(tiny, CheckId::S3));
    }

    #[test]
    fn drift_of_either_store_is_seen(stock in 1_u32..8, events in events(), by in prop_oneof![-3_i64..0, 1_i64..4]) {
        let (store, _) = sale(stock, &events);
        let sold = |tiny: &Tiny| !tiny.evidence.stores.end.orders.is_empty();
        if sold(&store) {
            let store = store.with(|e| e.stores.end.stock[0].available += by);
            prop_assert!(fails(store, CheckId::S1));
            let (cache, _) = sale(stock, &events);
            let cache = cache.with(|e| {
                let available = &mut e.stores.end.cache[0].available;
                *available = available.map(|units| units + by);
            });
            prop_assert!(fails(cache, CheckId::L3));
        }
    }

    #[test]
    fn a_state_that_was_final_and_changed_is_seen(stock in 1_u32..8, events in events()) {
        let (tiny, buyers) = sale(stock, &events);
        let paid = |tiny: &Tiny, key: u64| tiny.operations.iter().any(|one| one.key == key && one.told == Some(Paid));
        if let Some(key) = first(&buyers, |one| paid(&tiny, one.key)) {
            let undone = tiny.without_order(key).order(key, Cancelled);
            prop_assert!(fails(undone, CheckId::S7));
        }
    }

    #[test]
    fn a_false_sold_out_is_seen(stock in 1_u32..8, events in events()) {
        let mut told = vec![Event { act: Act::Come, luck: 2 }];
        told.extend(events);
        let (mut tiny, _) = sale(stock, &told);
        // The first buyer came before anybody else, and was sent away.
        tiny.operations[0].outcome = Refused;
        tiny.operations[0].reason = 1;
        tiny.operations[0].order_id = None;
        prop_assert!(fails(tiny, CheckId::S8));
    }

    #[test]
    fn units_that_came_and_are_in_one_store_only_are_seen(stock in 1_u32..8, events in events(), by in 1_u32..4) {
        let mut topped_up = vec![Event { act: Act::Come, luck: 3 }, Event { act: Act::TopUp(by), luck: 3 }];
        // One of unknown outcome might be taken for the one that is missing.
        let is_clear = |one: &Event| !matches!(one.act, Act::TopUp(_)) || one.luck > 2;
        topped_up.extend(events.into_iter().filter(is_clear));
        let by = i64::from(by);
        let (store, _) = sale(stock, &topped_up);
        let store = store.with(|e| {
            e.stores.end.stock[0].total -= by;
            e.stores.end.stock[0].available -= by;
        });
        prop_assert!(fails(store, CheckId::S1));
        let (cache, _) = sale(stock, &topped_up);
        let cache = cache.with(|e| {
            let available = &mut e.stores.end.cache[0].available;
            *available = available.map(|units| units - by);
        });
        prop_assert!(fails(cache, CheckId::L3));
    }

    #[test]
    fn a_sold_out_while_more_came_than_can_be_taken_is_seen(stock in 0_u32..8, events in events()) {
        // What comes before anybody else has no time at which it was surely there.
        let mut after_somebody = vec![Event { act: Act::Come, luck: 3 }];
        after_somebody.extend(events);
        let (tiny, _) = sale(stock, &after_somebody);
        let many = u32::try_from(tiny.operations.len()).unwrap() + 1;
        let told = tiny.top_up(many).refused(1_000, "sold_out");
        prop_assert!(fails(told, CheckId::S8));
    }

    #[test]
    fn one_too_many_before_the_units_came_is_seen(stock in 0_u32..8, by in 1_u32..4) {
        let sold = |tiny: Tiny, keys: std::ops::Range<u64>| keys.fold(tiny, Tiny::bought);
        let early = u64::from(stock) + 1;
        let tiny = sold(Tiny::sale(stock), 0..early).top_up(by);
        let tiny = sold(tiny, 100..99 + u64::from(by));
        prop_assert_eq!(failed(tiny).iter().map(|one| one.id).collect::<Vec<_>>(), [CheckId::S2]);
    }
}
