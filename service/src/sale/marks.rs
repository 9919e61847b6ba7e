//! What this node remembers of refusals, so that requests that cannot win are answered from
//! memory: the SKU is sold out, this user's limit is reached.
//!
//! A mark is set from an answer of Redis that may be older than a release. Each release moves the
//! generation on, and a mark is only kept if its answer was asked for in the current generation.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use papaya::HashMap;

/// Users remembered at most; beyond that Redis is asked, which is slower and as right.
const USERS_MAX: usize = 200_000;

/// Nothing is marked as refused.
const NO_MARK: u32 = u32::MAX;

/// A point in the SKU's history of releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Generation(u64);

/// Requests of a user for this many units or more pass the limit, as of one generation.
#[derive(Debug, Clone, Copy)]
struct Limited {
    asked: Generation,
    from: u32,
}

#[derive(Debug)]
pub struct Marks {
    generation: AtomicU64,
    /// Requests for this many units or more are sold out.
    sold_out_from: AtomicU32,
    /// By user. Read without a lock: a writer that lost the processor would keep the whole gateway waiting.
    limited: HashMap<String, Limited>,
}

impl Default for Marks {
    fn default() -> Self {
        Self {
            generation: AtomicU64::new(0),
            sold_out_from: AtomicU32::new(NO_MARK),
            limited: HashMap::new(),
        }
    }
}

impl Marks {
    #[must_use]
    pub fn generation(&self) -> Generation {
        Generation(self.generation.load(Ordering::SeqCst))
    }

    #[must_use]
    pub fn is_sold_out(&self, quantity: u32) -> bool {
        quantity >= self.sold_out_from.load(Ordering::Relaxed)
    }

    /// Some request is refused from memory.
    #[must_use]
    pub fn any_sold_out(&self) -> bool {
        self.sold_out_from.load(Ordering::Relaxed) != NO_MARK
    }

    #[must_use]
    pub fn is_limited(&self, user: &str, quantity: u32) -> bool {
        let users = self.limited.pin();
        let known = users.get(user);
        known.is_some_and(|mark| quantity >= mark.from && mark.asked == self.generation())
    }

    /// Redis, asked in generation `asked`, had fewer than `quantity` units.
    pub fn sold_out(&self, asked: Generation, quantity: u32) {
        self.sold_out_from.fetch_min(quantity, Ordering::SeqCst);
        // Checked after the write: a release in between clears the mark itself or is seen here.
        if self.generation() != asked {
            self.sold_out_from.store(NO_MARK, Ordering::SeqCst);
        }
    }

    /// Redis, asked in generation `asked`, refused this user `quantity` units more.
    pub fn limited(&self, asked: Generation, user: &str, quantity: u32) {
        let users = self.limited.pin();
        if self.generation() != asked || users.len() >= USERS_MAX {
            return;
        }
        let mark = Limited {
            asked,
            from: quantity,
        };
        let lower = |known: &Limited| match known.asked == asked {
            true => Limited {
                asked,
                from: quantity.min(known.from),
            },
            false => mark,
        };
        users.update_or_insert_with(user.to_owned(), lower, || mark);
    }

    /// Units came back: nothing that was known before holds.
    pub fn clear(&self) {
        self.generation.fetch_add(1, Ordering::SeqCst);
        self.sold_out_from.store(NO_MARK, Ordering::SeqCst);
        // A mark that comes in behind this is of an old generation, and counts no more.
        self.limited.pin().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_refuses_the_same_and_larger_quantities() {
        let marks = Marks::default();
        assert!(!marks.is_sold_out(u32::MAX - 1));
        marks.sold_out(marks.generation(), 3);
        assert_eq!(
            [2, 3, 4].map(|quantity| marks.is_sold_out(quantity)),
            [false, true, true]
        );
        marks.sold_out(marks.generation(), 1);
        assert!(marks.is_sold_out(1));

        marks.limited(marks.generation(), "u1", 2);
        assert_eq!(
            [1, 2].map(|quantity| marks.is_limited("u1", quantity)),
            [false, true]
        );
        assert!(!marks.is_limited("u2", 2));
    }

    #[test]
    fn an_answer_from_before_a_release_leaves_no_mark() {
        let marks = Marks::default();
        let asked = marks.generation();
        marks.clear();
        marks.sold_out(asked, 1);
        marks.limited(asked, "u1", 1);
        assert!(!marks.is_sold_out(1));
        assert!(!marks.is_limited("u1", 1));
    }

    #[test]
    fn a_release_forgets_every_refusal() {
        let marks = Marks::default();
        marks.sold_out(marks.generation(), 1);
        marks.limited(marks.generation(), "u1", 1);
        marks.clear();
        assert!(!marks.any_sold_out());
        assert!(!marks.is_limited("u1", 1));
    }
}
