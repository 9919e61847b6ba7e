//! Who buys what: a pure function of seed and index.
//!
//! Randomness comes from named streams of the run's seed, so that a change in one (say, more
//! duplicates) leaves the others as they were.

use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

use super::address;
use super::random::{below, draw, stream, unit};
use super::skew::Skew;

/// The buyers of a sale. Shares are of 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Population {
    pub users: u64,
    /// Keys and users are numbered from here, so that those of two loads of one run never meet.
    #[serde(default)]
    pub first_key: u64,
    #[serde(default)]
    pub first_user: u64,
    /// Units per purchase.
    pub quantity: u32,
    /// How much the first SKUs are wanted before the others: the exponent of Zipf's law, 0 for evenly.
    pub sku_skew: f64,
    pub bots: Bots,
    /// Arrivals that are a second click of an earlier purchase, with its request id.
    pub duplicate_share: f64,
    pub retries: Retries,
    /// Accepted purchases that are paid, cancelled, or asked after, `follow_up_after_ms` later.
    pub pay_share: f64,
    pub cancel_share: f64,
    /// Those whose buyer pays and cancels at the same moment.
    #[serde(default)]
    pub race_share: f64,
    pub status_share: f64,
    pub follow_up_after_ms: u64,
    /// Those that are asked after are asked after so many times, so far apart.
    pub poll_max: u32,
    pub poll_every_ms: u64,
}

/// Buyers beside the users: they all want the first SKU, and come from few addresses.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Bots {
    /// Arrivals that are a bot's.
    pub share: f64,
    pub users: u64,
    pub addresses: u32,
}

/// Buyers who click again when they were refused for the moment, or never got an answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Retries {
    /// Purchases whose buyer does.
    pub share: f64,
    /// Clicks after the first.
    pub max: u32,
    /// Before the second click, give or take half; each later wait is `backoff` times as long.
    pub after_ms: u64,
    pub backoff: f64,
}

impl Population {
    /// Users and bots together: who is numbered from here on is neither.
    pub fn names(&self) -> u64 {
        self.users.max(1) + self.bots.users
    }

    /// `users` who want one unit each of any SKU, click once, and do nothing after that.
    pub fn of(users: u64) -> Self {
        Self {
            users,
            first_key: 0,
            first_user: 0,
            quantity: 1,
            sku_skew: 0.0,
            bots: Bots::default(),
            duplicate_share: 0.0,
            retries: Retries::default(),
            pay_share: 0.0,
            race_share: 0.0,
            cancel_share: 0.0,
            status_share: 0.0,
            follow_up_after_ms: 0,
            poll_max: 1,
            poll_every_ms: 0,
        }
    }
}

/// A second click follows at most this many arrivals later (2 to this power); near distances are as
/// likely as far ones on a logarithmic scale, so some clicks overtake the first answer and some do not.
const DUPLICATE_DISTANCE_BITS: u64 = 13;
const NS_PER_MS: f64 = 1e6;
/// A click of a click of a click ...: bounds the work when nearly every arrival is a duplicate.
const DUPLICATE_HOPS_MAX: u32 = 64;

/// What one arrival asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Purchase {
    /// Idempotency key: the index of the arrival that is its first click, from `first_key` on.
    pub key: u64,
    pub user: u64,
    /// Index into the plan's SKUs.
    pub sku: u32,
    pub quantity: u32,
    /// Where the buyer says to come from.
    pub address: Ipv4Addr,
    /// A later click of an earlier purchase.
    pub duplicate: bool,
}

/// What a buyer does after an accepted purchase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextStep {
    Pay,
    Cancel,
    /// Both at once: one of them must win.
    PayAndCancel,
    Status,
}

/// The population with its random streams opened.
#[derive(Debug, Clone)]
pub struct Buyers {
    population: Population,
    skew: Skew,
    bots: u64,
    duplicates: u64,
    distances: u64,
    users: u64,
    skus: u64,
    next_steps: u64,
    retries: u64,
    waits: u64,
}

impl Buyers {
    /// `sku_count` and the numbers of users and bots are taken as at least 1.
    pub fn new(population: &Population, seed: u64, sku_count: u32) -> Self {
        Self {
            population: population.clone(),
            skew: Skew::new(sku_count, population.sku_skew),
            bots: stream(seed, "bots"),
            duplicates: stream(seed, "duplicates"),
            distances: stream(seed, "duplicate distances"),
            users: stream(seed, "users"),
            skus: stream(seed, "skus"),
            next_steps: stream(seed, "next steps"),
            retries: stream(seed, "retries"),
            waits: stream(seed, "retry waits"),
        }
    }

    /// What arrival `index` asks for.
    pub fn purchase(&self, index: u64) -> Purchase {
        let click = self.first_click(index);
        let key = self.population.first_key + click;
        // All but the time hangs on the key alone, so every click of a purchase asks for the same.
        let (user, sku, address) = if self.is_bot(key) {
            self.bot(key)
        } else {
            self.person(key)
        };
        Purchase {
            key,
            user,
            sku,
            quantity: self.population.quantity,
            address,
            duplicate: click != index,
        }
    }

    fn is_bot(&self, key: u64) -> bool {
        let share = self.population.bots.share;
        share > 0.0 && unit(draw(self.bots, key)) < share
    }

    fn person(&self, key: u64) -> (u64, u32, Ipv4Addr) {
        let user = below(draw(self.users, key), self.population.users.max(1));
        let user = self.population.first_user + user;
        let sku = self.skew.sku(draw(self.skus, key));
        (user, sku, address::of_person(user))
    }

    /// Bots are numbered behind the users, and go for what is wanted most.
    fn bot(&self, key: u64) -> (u64, u32, Ipv4Addr) {
        let bots = &self.population.bots;
        let bot = below(draw(self.users, key), bots.users.max(1));
        let user = self.population.users.max(1) + bot;
        (user, 0, address::of_bot(bot, bots.addresses))
    }

    /// How long the buyer of purchase `key` waits before clicking again, when `click` (0 is the first)
    /// was of no avail; None: the buyer gives up.
    pub fn retry_wait_ns(&self, key: u64, click: u32) -> Option<u64> {
        let retries = &self.population.retries;
        if click >= retries.max || unit(draw(self.retries, key)) >= retries.share {
            return None;
        }
        let growth = retries
            .backoff
            .powi(i32::try_from(click).unwrap_or(i32::MAX));
        // One stream a buyer, so that the waits of neighbours never repeat each other's.
        let jitter = 0.5 + unit(draw(draw(self.waits, key), click.into()));
        Some((retries.after_ms as f64 * growth * jitter * NS_PER_MS) as u64)
    }

    /// What follows when the purchase `key` is accepted.
    pub fn next_step(&self, key: u64) -> Option<NextStep> {
        let at = unit(draw(self.next_steps, key));
        let shares = &self.population;
        let paid = shares.pay_share;
        let cancelled = paid + shares.cancel_share;
        let raced = cancelled + shares.race_share;
        match at {
            _ if at < paid => Some(NextStep::Pay),
            _ if at < cancelled => Some(NextStep::Cancel),
            _ if at < raced => Some(NextStep::PayAndCancel),
            _ if at < raced + shares.status_share => Some(NextStep::Status),
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

/// The number behind a user's name, which may also be given alone; None: it is neither.
pub fn user_number(name: &str) -> Option<u64> {
    name.strip_prefix('u').unwrap_or(name).parse().ok()
}

/// Users that fit the fixed width of [`user_id`].
pub const USERS_MAX: u64 = 1_000_000_000_000;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn population(duplicate_share: f64) -> Population {
        Population {
            quantity: 2,
            duplicate_share,
            pay_share: 0.5,
            cancel_share: 0.2,
            status_share: 0.1,
            ..Population::of(1_000)
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
    fn two_loads_of_one_run_share_no_key_and_no_user() {
        let apart = Population {
            first_key: 1 << 61,
            first_user: 5_000,
            ..population(0.3)
        };
        let (one, other) = (
            Buyers::new(&population(0.3), 7, 20),
            Buyers::new(&apart, 7, 20),
        );
        for index in 0..5_000 {
            let (first, second) = (one.purchase(index), other.purchase(index));
            assert_eq!(second.key, first.key + (1 << 61), "the same clicks");
            assert_eq!(second.duplicate, first.duplicate);
            assert!((5_000..6_000).contains(&second.user), "{}", second.user);
        }
    }

    #[test]
    fn bots_keep_their_share_their_numbers_and_their_addresses() {
        let bots = Bots {
            share: 0.2,
            users: 50,
            addresses: 8,
        };
        let with_bots = Population {
            bots,
            ..population(0.3)
        };
        let buyers = Buyers::new(&with_bots, 7, 20);
        let without = Buyers::new(&population(0.3), 7, 20);
        let (mut users, mut addresses, mut clicks) = (HashSet::new(), HashSet::new(), 0);
        for index in 0..50_000 {
            let purchase = buyers.purchase(index);
            if purchase.user < 1_000 {
                assert_eq!(purchase, without.purchase(index), "people are as they were");
                continue;
            }
            assert_eq!(purchase.sku, 0);
            assert_eq!(purchase.address.octets()[..2], [198, 18]);
            users.insert(purchase.user);
            addresses.insert(purchase.address);
            clicks += 1;
        }
        assert!((9_000..11_000).contains(&clicks), "{clicks}");
        assert_eq!((users.len(), users.iter().max()), (50, Some(&1_049)));
        assert_eq!(addresses.len(), 8);
    }

    #[test]
    fn the_first_sku_is_wanted_most() {
        let skewed = Population {
            sku_skew: 1.0,
            ..population(0.0)
        };
        let buyers = Buyers::new(&skewed, 7, 3);
        let mut counts = [0_u32; 3];
        (0..11_000).for_each(|index| counts[buyers.purchase(index).sku as usize] += 1);
        // 1 to 1/2 to 1/3.
        let near = [5_700..6_300, 2_800..3_200, 1_800..2_200];
        assert!(
            near.iter()
                .zip(counts)
                .all(|(near, count)| near.contains(&count)),
            "{counts:?}"
        );
    }

    #[test]
    fn some_buyers_click_again_ever_later_and_give_up() {
        let mut stubborn = population(0.0);
        stubborn.retries = Retries {
            share: 0.25,
            max: 3,
            after_ms: 100,
            backoff: 2.0,
        };
        let buyers = Buyers::new(&stubborn, 7, 1);
        let mut sums = [0.0_f64; 3];
        let mut retriers = 0;
        for key in 0..40_000 {
            let waits: Vec<u64> = (0..9)
                .map_while(|click| buyers.retry_wait_ns(key, click))
                .collect();
            if waits.is_empty() {
                continue;
            }
            assert_eq!(waits.len(), 3, "a buyer who retries does so to the end");
            retriers += 1;
            for (click, wait) in waits.into_iter().enumerate() {
                let middle = 100_000_000 << click;
                assert!((middle / 2..middle * 3 / 2).contains(&wait), "{wait}");
                sums[click] += wait as f64 / middle as f64;
            }
        }
        assert!((9_600..10_400).contains(&retriers), "{retriers}");
        assert!(
            sums.iter()
                .all(|sum| (sum / f64::from(retriers) - 1.0).abs() < 0.02),
            "{sums:?}"
        );
        let patient = Buyers::new(&population(0.0), 7, 1);
        assert!((0..1_000).all(|key| patient.retry_wait_ns(key, 0).is_none()));
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
        for (name, number) in [("u000000000042", Some(42)), ("42", Some(42)), ("v42", None)] {
            assert_eq!(user_number(name), number);
        }
    }
}
