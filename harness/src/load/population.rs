//! Who buys what: a pure function of seed and index.
//!
//! Randomness comes from named streams of the run's seed, so that a change in one (say, more
//! duplicates) leaves the others as they were.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The buyers of a sale. Shares are of 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Population {
    pub users: u64,
    /// Units per purchase.
    pub quantity: u32,
    /// Arrivals that are a second click of an earlier purchase, with its request id.
    pub duplicate_share: f64,
    /// Accepted purchases that are paid, cancelled, or asked after, `follow_up_after_ms` later.
    pub pay_share: f64,
    pub cancel_share: f64,
    pub status_share: f64,
    pub follow_up_after_ms: u64,
}

/// A second click follows at most this many arrivals later (2 to this power); near distances are as
/// likely as far ones on a logarithmic scale, so some clicks overtake the first answer and some do not.
const DUPLICATE_DISTANCE_BITS: u64 = 13;
/// A click of a click of a click ...: bounds the work when nearly every arrival is a duplicate.
const DUPLICATE_HOPS_MAX: u32 = 64;

/// What one arrival asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Purchase {
    /// Idempotency key: the index of the arrival that is its first click.
    pub key: u64,
    pub user: u64,
    /// Index into the plan's SKUs.
    pub sku: u32,
    pub quantity: u32,
    /// A later click of an earlier purchase.
    pub duplicate: bool,
}

/// What a buyer does after an accepted purchase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextStep {
    Pay,
    Cancel,
    Status,
}

/// The population with its random streams opened.
#[derive(Debug, Clone)]
pub struct Buyers {
    population: Population,
    sku_count: u64,
    duplicates: u64,
    distances: u64,
    users: u64,
    skus: u64,
    next_steps: u64,
}

impl Buyers {
    /// `sku_count` and the number of users are taken as at least 1.
    pub fn new(population: &Population, seed: u64, sku_count: u32) -> Self {
        Self {
            population: population.clone(),
            sku_count: u64::from(sku_count.max(1)),
            duplicates: stream(seed, "duplicates"),
            distances: stream(seed, "duplicate distances"),
            users: stream(seed, "users"),
            skus: stream(seed, "skus"),
            next_steps: stream(seed, "next steps"),
        }
    }

    /// What arrival `index` asks for.
    pub fn purchase(&self, index: u64) -> Purchase {
        let key = self.first_click(index);
        // User and SKU hang on the key alone, so every click of a purchase asks for the same.
        Purchase {
            key,
            user: below(draw(self.users, key), self.population.users.max(1)),
            sku: below(draw(self.skus, key), self.sku_count) as u32,
            quantity: self.population.quantity,
            duplicate: key != index,
        }
    }

    /// What follows when the purchase `key` is accepted.
    pub fn next_step(&self, key: u64) -> Option<NextStep> {
        let at = unit(draw(self.next_steps, key));
        let shares = &self.population;
        let paid = shares.pay_share;
        let cancelled = paid + shares.cancel_share;
        match at {
            _ if at < paid => Some(NextStep::Pay),
            _ if at < cancelled => Some(NextStep::Cancel),
            _ if at < cancelled + shares.status_share => Some(NextStep::Status),
            _ => None,
        }
    }

    /// Follows an arrival back to the click it repeats.
    fn first_click(&self, index: u64) -> u64 {
        let mut at = index;
        for _ in 0..DUPLICATE_HOPS_MAX {
            if at == 0 || unit(draw(self.duplicates, at)) >= self.population.duplicate_share {
                break;
            }
            let random = draw(self.distances, at);
            let bits = random % DUPLICATE_DISTANCE_BITS;
            let distance = 1 + ((random >> 8) & ((1 << bits) - 1));
            at = at.saturating_sub(distance);
        }
        at
    }
}

/// The request id that every click of purchase `key` sends: 8 hex digits of the seed's own, then
/// the key in 16. Always the same length.
pub fn request_id(seed: u64, key: u64) -> String {
    format!("{:08x}{key:016x}", request_prefix(seed))
}

/// The key behind a request id of this seed; None: it is not one of ours.
pub fn key_of(seed: u64, request_id: &str) -> Option<u64> {
    let key = u64::from_str_radix(request_id.get(8..)?, 16).ok()?;
    (self::request_id(seed, key) == request_id).then_some(key)
}

pub(super) fn request_prefix(seed: u64) -> u32 {
    stream(seed, "request ids") as u32
}

/// The name of user number `user`. Always the same length up to [`USERS_MAX`].
pub fn user_id(user: u64) -> String {
    format!("u{user:012}")
}

/// Users that fit the fixed width of [`user_id`].
pub const USERS_MAX: u64 = 1_000_000_000_000;

/// A named stream of a seed.
fn stream(seed: u64, name: &str) -> u64 {
    xxh3_64_with_seed(name.as_bytes(), seed)
}

fn draw(stream: u64, index: u64) -> u64 {
    xxh3_64_with_seed(&index.to_le_bytes(), stream)
}

/// Evenly to `0..limit`, by the high half of the product.
fn below(random: u64, limit: u64) -> u64 {
    ((u128::from(random) * u128::from(limit)) >> 64) as u64
}

/// Evenly to `0.0..1.0`: 53 bits, what a double holds exactly.
fn unit(random: u64) -> f64 {
    (random >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn population(duplicate_share: f64) -> Population {
        Population {
            users: 1_000,
            quantity: 2,
            duplicate_share,
            pay_share: 0.5,
            cancel_share: 0.2,
            status_share: 0.1,
            follow_up_after_ms: 100,
        }
    }

    #[test]
    fn is_a_pure_function_of_seed_and_index() {
        let one = Buyers::new(&population(0.3), 7, 20);
        let two = Buyers::new(&population(0.3), 7, 20);
        let other = Buyers::new(&population(0.3), 8, 20);
        assert!((0..1_000).all(|i| one.purchase(i) == two.purchase(i)));
        assert!((0..1_000).any(|i| one.purchase(i) != other.purchase(i)));
    }

    #[test]
    fn duplicates_repeat_an_earlier_purchase_whole() {
        let buyers = Buyers::new(&population(0.3), 7, 20);
        let mut duplicates = 0;
        for index in 0..50_000 {
            let purchase = buyers.purchase(index);
            let first = buyers.purchase(purchase.key);
            assert!(purchase.key <= index);
            assert_eq!(purchase.duplicate, purchase.key != index);
            assert_eq!(
                (first.user, first.sku, first.quantity),
                (purchase.user, purchase.sku, purchase.quantity)
            );
            assert!(!first.duplicate, "key {} is itself a click", purchase.key);
            duplicates += u64::from(purchase.duplicate);
        }
        assert!((14_000..16_000).contains(&duplicates), "{duplicates}");
    }

    #[test]
    fn a_duplicate_share_of_none_or_all_ends() {
        let none = Buyers::new(&population(0.0), 7, 1);
        assert!((0..1_000).all(|i| !none.purchase(i).duplicate));
        let all = Buyers::new(&population(1.0), 7, 1);
        assert!((1..1_000).all(|i| all.purchase(i).duplicate));
    }

    #[test]
    fn users_and_skus_stay_in_range_and_are_all_used() {
        let buyers = Buyers::new(&population(0.0), 7, 20);
        let purchases: Vec<_> = (0..20_000).map(|i| buyers.purchase(i)).collect();
        let users: HashSet<_> = purchases.iter().map(|p| p.user).collect();
        let skus: HashSet<_> = purchases.iter().map(|p| p.sku).collect();
        assert_eq!((users.len(), users.iter().max()), (1_000, Some(&999)));
        assert_eq!((skus.len(), skus.iter().max()), (20, Some(&19)));
    }

    #[test]
    fn next_steps_keep_their_shares() {
        let buyers = Buyers::new(&population(0.0), 7, 20);
        let share = |step| {
            let hits = (0..10_000).filter(|key| buyers.next_step(*key) == step);
            (hits.count() as f64 / 1_000.0).round()
        };
        let shares = [NextStep::Pay, NextStep::Cancel, NextStep::Status].map(|s| share(Some(s)));
        assert_eq!((shares, share(None)), ([5.0, 2.0, 1.0], 2.0));
    }

    #[test]
    fn request_ids_are_of_one_length_and_lead_back_to_the_key() {
        for key in [0, 1, 4_711, u64::MAX] {
            let id = request_id(7, key);
            assert_eq!(id.len(), 24);
            assert_eq!(key_of(7, &id), Some(key));
            assert_eq!(key_of(8, &id), None);
        }
        for foreign in ["", "abc", "ééééééééé", "00000000zzzzzzzzzzzzzzzz"] {
            assert_eq!(key_of(7, foreign), None, "{foreign}");
        }
        assert_eq!(user_id(42), "u000000000042");
    }
}
