//! The live connections of a link.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::connection::{ConnectionView, Order};
use super::toxic::Stream;
use super::traffic::Counters;

#[derive(Debug, Default)]
pub struct Roster(Mutex<Open>);

#[derive(Debug, Default)]
struct Open {
    handles: BTreeMap<u64, Handle>,
    next_id: u64,
}

/// A live connection, as its link holds it.
#[derive(Debug)]
struct Handle {
    orders: oneshot::Sender<Order>,
    client: SocketAddr,
    since: Instant,
    counters: Arc<Counters>,
}

impl Roster {
    /// The connection's number, and where it hears orders. It must [`Roster::leave`] at its end.
    pub fn enter(
        &self,
        client: SocketAddr,
        counters: Arc<Counters>,
    ) -> (u64, oneshot::Receiver<Order>) {
        let (orders, received) = oneshot::channel();
        let handle = Handle {
            orders,
            client,
            since: Instant::now(),
            counters,
        };
        let mut open = self.open();
        let id = open.next_id;
        open.next_id += 1;
        open.handles.insert(id, handle);
        (id, received)
    }

    pub fn leave(&self, id: u64) {
        self.open().handles.remove(&id);
    }

    pub fn views(&self) -> Vec<ConnectionView> {
        let view = |(id, handle): (&u64, &Handle)| ConnectionView {
            id: *id,
            client: handle.client,
            age_ms: u64::try_from(handle.since.elapsed().as_millis()).unwrap_or(u64::MAX),
            upstream: handle.counters.direction(Stream::Upstream),
            downstream: handle.counters.direction(Stream::Downstream),
        };
        self.open().handles.iter().map(view).collect()
    }

    /// Ends the connections of some clients. Returns how many there were.
    pub fn end(&self, order: Order, which: impl Fn(SocketAddr) -> bool) -> usize {
        let mut open = self.open();
        let ended = open
            .handles
            .extract_if(.., |_, handle| which(handle.client));
        let ended: Vec<_> = ended.collect();
        drop(open);
        let count = ended.len();
        for (_, handle) in ended {
            // One that has ended by itself does not listen.
            let _ = handle.orders.send(order);
        }
        count
    }

    /// A panic of another task must not make the proxy unusable; the map stays consistent.
    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
