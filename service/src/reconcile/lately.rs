//! Orders that this node has lately written to MySQL itself: it need not ask for them.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// An order is known for once to twice this time: longer than until the ledger is compared with MySQL.
const TURN: Duration = Duration::from_secs(15);

/// Ids of orders, those of this turn and of the one before.
#[derive(Debug)]
pub struct LatelyStored(Mutex<Turns>);

#[derive(Debug)]
struct Turns {
    begun: Instant,
    this: HashSet<String>,
    last: HashSet<String>,
}

impl Default for LatelyStored {
    fn default() -> Self {
        Self(Mutex::new(Turns {
            begun: Instant::now(),
            this: HashSet::new(),
            last: HashSet::new(),
        }))
    }
}

impl LatelyStored {
    /// These have a row since now, or had one before.
    pub fn note<'i>(&self, order_ids: impl IntoIterator<Item = &'i str>, now: Instant) {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if now.saturating_duration_since(turns.begun) >= TURN {
            turns.last = std::mem::take(&mut turns.this);
            turns.begun = now;
        }
        turns.this.extend(order_ids.into_iter().map(str::to_owned));
    }

    /// Leaves the others. One that stays may have a row all the same.
    pub fn leave_unknown(&self, order_ids: &mut Vec<String>) {
        let turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        order_ids.retain(|id| !turns.this.contains(id) && !turns.last.contains(id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_stored_is_known_for_a_while_and_nothing_else_is() {
        let (stored, begun) = (LatelyStored::default(), Instant::now());
        let left = || {
            let mut ids = ["a", "b", "c"].map(str::to_owned).to_vec();
            stored.leave_unknown(&mut ids);
            ids.concat()
        };
        for (id, turns, expected) in [("a", 0, "bc"), ("b", 1, "c"), ("c", 2, "a"), ("c", 9, "ab")]
        {
            stored.note([id], begun + TURN * turns + TURN / 2);
            assert_eq!(left(), expected, "{id} at {turns}");
        }
    }
}
