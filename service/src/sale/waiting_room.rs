//! The waiting room: how many buyers may wait for a reservation, and how many are served at once.

use std::num::NonZeroUsize;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Seats and counters. A buyer who finds no seat is told "busy" at once.
#[derive(Debug)]
pub struct WaitingRoom {
    seats: Arc<Semaphore>,
    counters: Semaphore,
}

/// A seat, held until dropped.
#[derive(Debug)]
pub struct Seat {
    _permit: OwnedSemaphorePermit,
}

impl WaitingRoom {
    #[must_use]
    pub fn new(seats: NonZeroUsize, counters: NonZeroUsize) -> Self {
        Self {
            seats: Arc::new(Semaphore::new(seats.get())),
            counters: Semaphore::new(counters.get()),
        }
    }

    #[must_use]
    pub fn sit(&self) -> Option<Seat> {
        let permit = Arc::clone(&self.seats).try_acquire_owned().ok()?;
        Some(Seat { _permit: permit })
    }

    /// Waits for a free counter, in the order of arrival, and does `serve` there.
    pub async fn at_counter<T>(&self, serve: impl Future<Output = T>) -> T {
        // The semaphore is never closed; if it were, serving would still be right.
        let _counter = self.counters.acquire().await.ok();
        serve.await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_room_takes_nobody_until_a_seat_is_free() {
        let two = NonZeroUsize::new(2).unwrap();
        let room = WaitingRoom::new(two, two);
        let (first, second) = (room.sit(), room.sit());
        assert!(first.is_some() && second.is_some());
        assert!(room.sit().is_none());
        drop(first);
        assert!(room.sit().is_some());
    }
}
