//! The waiting room: how many buyers may wait for an answer at once.

use std::num::NonZeroUsize;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Seats. A buyer who finds none is told "busy" at once.
#[derive(Debug)]
pub struct WaitingRoom {
    seats: Arc<Semaphore>,
}

/// A seat, held until dropped.
#[derive(Debug)]
pub struct Seat {
    _permit: OwnedSemaphorePermit,
}

impl WaitingRoom {
    #[must_use]
    pub fn new(seats: NonZeroUsize) -> Self {
        Self {
            seats: Arc::new(Semaphore::new(seats.get())),
        }
    }

    #[must_use]
    pub fn sit(&self) -> Option<Seat> {
        let permit = Arc::clone(&self.seats).try_acquire_owned().ok()?;
        Some(Seat { _permit: permit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_room_takes_nobody_until_a_seat_is_free() {
        let two = NonZeroUsize::new(2).unwrap();
        let room = WaitingRoom::new(two);
        let (first, second) = (room.sit(), room.sit());
        assert!(first.is_some() && second.is_some());
        assert!(room.sit().is_none());
        drop(first);
        assert!(room.sit().is_some());
    }
}
