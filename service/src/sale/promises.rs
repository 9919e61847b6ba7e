//! Orders this node has promised and MySQL does not have yet.
//!
//! An order is here from before its reservation is sent until its row is known to exist. The keeper
//! rebuilds Redis from MySQL only when none of the SKU's orders is left here.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::order::OrderMessage;
use super::sku::Sku;

/// A promise younger than this is simply on its way.
const FIRST_LOOK: Duration = Duration::from_secs(2);
/// Each look that does not find its row doubles the time to the next: a store that is late is not asked by everybody who
/// waits for it, every second. Up to this.
const LOOK_PAUSE_MAX: Duration = Duration::from_secs(32);

/// What is known of the reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromiseState {
    /// Being asked for; nothing promised yet.
    Asked,
    /// Redis reserved it: MySQL must get it.
    Granted,
    /// The answer was lost; it is being settled.
    Unknown,
}

#[derive(Debug, Clone)]
pub struct Promise {
    pub order: Arc<OrderMessage>,
    pub state: PromiseState,
    /// When its row is looked for next, and the pause after that.
    look_at: Instant,
    look_pause: Duration,
}

impl Promise {
    fn new(order: &Arc<OrderMessage>, state: PromiseState) -> Self {
        Self {
            order: Arc::clone(order),
            state,
            look_at: Instant::now() + FIRST_LOOK,
            look_pause: FIRST_LOOK,
        }
    }
}

/// Promises by order id.
#[derive(Debug, Default)]
pub struct Promises(Mutex<HashMap<String, Promise>>);

impl Promises {
    /// To be called before the reservation is sent. An order that is here already stays as it is.
    pub fn asked(&self, order: &Arc<OrderMessage>) {
        self.entries()
            .entry(order.order_id.clone())
            .or_insert_with(|| Promise::new(order, PromiseState::Asked));
    }

    pub fn granted(&self, order: &Arc<OrderMessage>) {
        self.set(order, PromiseState::Granted);
    }

    /// A grant stays one, whatever another attempt of the same request lost.
    pub fn unknown(&self, order: &Arc<OrderMessage>) {
        let is_granted = self
            .get(&order.order_id)
            .is_some_and(|known| known.state == PromiseState::Granted);
        if !is_granted {
            self.set(order, PromiseState::Unknown);
        }
    }

    /// The reservation was refused. What another attempt of the same request got stays.
    pub fn refused(&self, order_id: &str) {
        let mut entries = self.entries();
        if entries
            .get(order_id)
            .is_some_and(|known| known.state == PromiseState::Asked)
        {
            entries.remove(order_id);
        }
    }

    /// MySQL has the order.
    pub fn kept(&self, order_id: &str) -> Option<Promise> {
        self.entries().remove(order_id)
    }

    #[must_use]
    pub fn get(&self, order_id: &str) -> Option<Promise> {
        self.entries().get(order_id).cloned()
    }

    #[must_use]
    pub fn of_sku(&self, sku: &Sku) -> Vec<Promise> {
        let is_of =
            |promise: &&Promise| promise.order.sku == sku.sku && promise.order.sale == sku.sale;
        self.entries().values().filter(is_of).cloned().collect()
    }

    /// Ids whose row is to be looked for at `now`; the next look at each is put off.
    #[must_use]
    pub fn to_look_for(&self, now: Instant) -> Vec<String> {
        let mut entries = self.entries();
        let due = entries
            .iter_mut()
            .filter(|(_, promise)| promise.look_at <= now);
        due.map(|(id, promise)| {
            promise.look_at = now + promise.look_pause;
            promise.look_pause = (promise.look_pause * 2).min(LOOK_PAUSE_MAX);
            id.clone()
        })
        .collect()
    }

    fn set(&self, order: &Arc<OrderMessage>, state: PromiseState) {
        let promise = Promise::new(order, state);
        self.entries().insert(order.order_id.clone(), promise);
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<String, Promise>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sale::sku::{Gate, Rules};

    fn order(id: &str) -> Arc<OrderMessage> {
        let text = |text: &str| text.to_owned();
        Arc::new(OrderMessage {
            order_id: text(id),
            sale: text("s"),
            sku: text("k"),
            user: text("u"),
            quantity: 1,
            request_id: text("r"),
            at_ms: 0,
        })
    }

    #[test]
    fn a_refusal_takes_back_only_what_nobody_was_promised() {
        let promises = Promises::default();
        promises.asked(&order("a"));
        promises.refused("a");
        assert!(promises.get("a").is_none());

        promises.asked(&order("b"));
        promises.granted(&order("b"));
        promises.refused("b");
        promises.unknown(&order("b"));
        assert_eq!(
            promises.get("b").map(|p| p.state),
            Some(PromiseState::Granted)
        );

        promises.unknown(&order("c"));
        promises.refused("c");
        assert_eq!(
            promises.get("c").map(|p| p.state),
            Some(PromiseState::Unknown)
        );
    }

    #[test]
    fn a_promise_is_listed_with_its_sku_until_it_is_kept() {
        let promises = Promises::default();
        let sku = |name: &str| Sku::new("s", name, Rules::default(), Gate::Open);
        promises.granted(&order("a"));
        assert_eq!(
            (
                promises.of_sku(&sku("k")).len(),
                promises.of_sku(&sku("other")).len()
            ),
            (1, 0)
        );
        assert!(promises.kept("a").is_some());
        assert!(promises.of_sku(&sku("k")).is_empty());
        assert!(promises.kept("a").is_none());
    }

    #[test]
    fn a_promise_is_looked_for_less_and_less_often() {
        let promises = Promises::default();
        let start = Instant::now();
        promises.granted(&order("a"));
        let looks: Vec<u64> = (0..100)
            .filter(|second| {
                let now = start + Duration::from_secs(*second) + Duration::from_millis(500);
                !promises.to_look_for(now).is_empty()
            })
            .collect();
        assert_eq!(looks, [2, 4, 8, 16, 32, 64, 96]);
        promises.kept("a");
        assert!(promises.to_look_for(start + LOOK_PAUSE_MAX * 9).is_empty());
    }
}
