//! A small model of a sale that does everything right, for properties of the checkers: whatever buyers do, none of
//! them fails; after one defect, the one that it belongs to does.

use proptest::prelude::*;

use super::tiny_history::Tiny;
use super::{CheckId, CheckResult, Verdict};
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

/// What a buyer does; which buyer, and whether the answer comes through, are numbers that fit any number of buyers.
#[derive(Debug, Clone, Copy)]
enum Act {
    Come,
    ClickAgain(usize),
    Pay(usize),
    Cancel(usize),
    Ask(usize),
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
    available: u32,
    buyers: Vec<Buyer>,
}

impl Sale {
    fn new(stock: u32) -> Self {
        Self {
            tiny: Some(Tiny::sale(stock)),
            available: stock,
            buyers: Vec::new(),
        }
    }

    fn record(&mut self, step: impl FnOnce(Tiny) -> Tiny) {
        self.tiny = self.tiny.take().map(step);
    }

    fn act(&mut self, event: Event) {
        let pick = |at: usize| (!self.buyers.is_empty()).then(|| at % self.buyers.len());
        let (at, act) = match event.act {
            Act::Come => {
                let key = self.buyers.len() as u64 + 1;
                self.buyers.push(Buyer {
                    key,
                    state: None,
                    knows: false,
                });
                (Some(self.buyers.len() - 1), event.act)
            }
            Act::ClickAgain(at) | Act::Pay(at) | Act::Cancel(at) | Act::Ask(at) => {
                (pick(at), event.act)
            }
        };
        let Some(at) = at else { return };
        match act {
            Act::Come | Act::ClickAgain(_) => self.buy(at, event.luck),
            Act::Pay(_) => self.change(at, event.luck, Paid),
            Act::Cancel(_) => self.change(at, event.luck, Cancelled),
            Act::Ask(_) => self.ask(at),
        }
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
    ];
    let event = (act, 0_u8..8).prop_map(|(act, luck)| Event { act, luck });
    proptest::collection::vec(event, 0..40)
}

fn sale(stock: u32, events: &[Event]) -> (Tiny, Vec<Buyer>) {
    let mut sale = Sale::new(stock);
    events.iter().for_each(|event| sale.act(*event));
    sale.at_rest()
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
        for key in 1_000..=1_000 + u64::from(stock) - live.count() as u64 {
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
        for key in 1_000..=1_000 + u64::from(stock) {
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
}
