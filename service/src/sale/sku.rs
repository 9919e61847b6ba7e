//! One SKU of a sale as this node sees it: rules, gate, marks, and what is in flight.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};

use arc_swap::ArcSwap;
use papaya::HashMap;

use super::marks::Marks;
use super::order::OrderId;
use crate::queue::QueuePath;
use crate::stock::keys::Keys;

/// Rules of a SKU; they change only while its gate is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rules {
    /// Units one user may hold; 0 = any number.
    pub limit_per_user: u32,
    pub starts_at_ms: u64,
    /// 0 = no end.
    pub ends_at_ms: u64,
    pub queue: QueuePath,
}

/// Whether this node lets buyers through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Gate {
    /// Not opened yet.
    Prepared,
    Open,
    /// Open as far as the operator is concerned, but the stock is being rebuilt.
    Paused,
    Closed,
}

impl Gate {
    fn of(raw: u8) -> Self {
        [Self::Prepared, Self::Open, Self::Paused, Self::Closed]
            .into_iter()
            .find(|gate| *gate as u8 == raw)
            .unwrap_or(Self::Closed)
    }
}

/// Shared by everything that handles the SKU.
#[derive(Debug)]
pub struct Sku {
    pub sale: String,
    pub sku: String,
    pub keys: Keys,
    pub marks: Marks,
    /// Held by whoever reads the ledger to learn all orders of the SKU.
    pub learning: tokio::sync::Mutex<()>,
    rules: ArcSwap<Rules>,
    gate: AtomicU8,
    epoch: AtomicU64,
    /// Number of the primary's identity that the stock was last verified on; 0 = none.
    verified_on: AtomicU64,
    /// Something proved that Redis and MySQL disagree.
    is_suspect: AtomicBool,
    in_flight: AtomicUsize,
    /// Orders accepted by this node or read from the ledger, by user: their requests are answered as the
    /// same order again even when the SKU is sold out. Bounded by the stock ever sold. By user, so
    /// that refusing everybody else costs no order id. Read without a lock: a writer that lost the
    /// processor would keep the whole gateway waiting.
    accepted: HashMap<String, Vec<OrderId>>,
}

impl Sku {
    #[must_use]
    pub fn new(sale: &str, sku: &str, rules: Rules, gate: Gate) -> Self {
        Self {
            sale: sale.to_owned(),
            sku: sku.to_owned(),
            keys: Keys::new(sale, sku),
            marks: Marks::default(),
            learning: tokio::sync::Mutex::default(),
            rules: ArcSwap::from_pointee(rules),
            gate: AtomicU8::new(gate as u8),
            epoch: AtomicU64::new(0),
            verified_on: AtomicU64::new(0),
            is_suspect: AtomicBool::new(false),
            in_flight: AtomicUsize::new(0),
            accepted: HashMap::new(),
        }
    }

    /// Sale and SKU.
    #[must_use]
    pub fn name(&self) -> (String, String) {
        (self.sale.clone(), self.sku.clone())
    }

    #[must_use]
    pub fn rules(&self) -> Rules {
        **self.rules.load()
    }

    #[must_use]
    pub fn gate(&self) -> Gate {
        Gate::of(self.gate.load(Ordering::SeqCst))
    }

    pub fn set_gate(&self, gate: Gate) {
        self.gate.store(gate as u8, Ordering::SeqCst);
    }

    /// Moves the gate only if it stands where the caller believes; says whether it did.
    pub fn move_gate(&self, from: Gate, to: Gate) -> bool {
        self.gate
            .compare_exchange(from as u8, to as u8, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok()
    }

    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::SeqCst)
    }

    #[must_use]
    pub fn verified_on(&self) -> u64 {
        self.verified_on.load(Ordering::SeqCst)
    }

    /// Notes what a rebuild left in Redis, and where.
    pub fn rebuilt(&self, rules: Rules, epoch: u64, verified_on: u64) {
        self.rules.store(std::sync::Arc::new(rules));
        self.epoch.store(epoch, Ordering::SeqCst);
        self.verified_on.store(verified_on, Ordering::SeqCst);
        self.is_suspect.store(false, Ordering::SeqCst);
        self.marks.clear();
    }

    /// Asks the keeper for a rebuild: Redis and MySQL were seen to disagree.
    pub fn suspect(&self) {
        self.is_suspect.store(true, Ordering::SeqCst);
    }

    #[must_use]
    pub fn is_suspect(&self) -> bool {
        self.is_suspect.load(Ordering::SeqCst)
    }

    /// Counts a buy request in, if the gate is open. The count goes up before the gate is read: a
    /// keeper that closes the gate and then reads zero knows that nobody is on the way any more.
    pub fn enter(self: &std::sync::Arc<Self>) -> Result<Entered, Gate> {
        self.in_flight.fetch_add(1, Ordering::SeqCst);
        let entered = Entered(std::sync::Arc::clone(self));
        match self.gate() {
            Gate::Open => Ok(entered),
            gate => Err(gate),
        }
    }

    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::SeqCst)
    }

    /// The id of this very request, if it was accepted before.
    #[must_use]
    pub fn accepted(&self, user: &str, order_id: impl FnOnce() -> OrderId) -> Option<OrderId> {
        let accepted = self.accepted.pin();
        let of_user = accepted.get(user)?;
        let order_id = order_id();
        of_user.contains(&order_id).then_some(order_id)
    }

    /// Some order of this user is known here.
    #[must_use]
    pub fn knows(&self, user: &str) -> bool {
        self.accepted.pin().contains_key(user)
    }

    /// Notes that the order was accepted; a text that is no id of ours is nobody's order.
    pub fn accept(&self, user: &str, order_id: &str) {
        let Some(order_id) = OrderId::parse(order_id) else {
            return;
        };
        let with_it = |of_user: &Vec<OrderId>| {
            let mut of_user = of_user.clone();
            if !of_user.contains(&order_id) {
                of_user.push(order_id);
            }
            of_user
        };
        self.accepted
            .pin()
            .update_or_insert_with(user.to_owned(), with_it, || vec![order_id]);
    }
}

/// A buy request between the gate and its end.
#[derive(Debug)]
pub struct Entered(std::sync::Arc<Sku>);

impl Drop for Entered {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn only_an_open_gate_lets_a_request_in_and_its_end_counts_it_out() {
        let sku = Arc::new(Sku::new("sale", "sku", Rules::default(), Gate::Prepared));
        for gate in [Gate::Prepared, Gate::Paused, Gate::Closed] {
            sku.set_gate(gate);
            assert_eq!(sku.enter().err(), Some(gate));
            assert_eq!(sku.in_flight(), 0);
        }
        sku.set_gate(Gate::Open);
        let entered = sku.enter();
        assert_eq!(sku.in_flight(), 1);
        drop(entered);
        assert_eq!(sku.in_flight(), 0);
    }

    #[test]
    fn a_gate_that_somebody_else_moved_is_left_alone() {
        let sku = Sku::new("sale", "sku", Rules::default(), Gate::Closed);
        assert!(!sku.move_gate(Gate::Paused, Gate::Open));
        assert_eq!(sku.gate(), Gate::Closed);
    }
}
