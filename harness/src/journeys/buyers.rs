//! Who buys what on a journey: a pure function of seed, buyer and number of the journey.
//!
//! Keys and user numbers are apart from the load's: the keys of arrivals are their indexes, far below
//! [`FIRST_KEY`], and the load's users are numbered below `population.users`. So one request id, one
//! user id and one ledger serve both.

use crate::drill::plan::Plan;
use crate::journeys::Journeys;
use crate::load::address;
use crate::load::population::{self, Bots, NextStep, Population, Purchase};

/// The keys of journeys begin here; no schedule has so many arrivals.
const FIRST_KEY: u64 = 1 << 62;
/// Journeys of one buyer have keys in a row: room for 2 to this power.
const JOURNEY_BITS: u32 = 32;

/// The purchase belongs to a journey, not to an arrival.
pub fn is_journey(key: u64) -> bool {
    key >= FIRST_KEY
}

/// The number of a journey among all of a run; below 2^46.
pub fn journey_number(key: u64) -> u64 {
    key - FIRST_KEY
}

/// The buyers of a plan's journeys.
#[derive(Debug)]
pub struct Buyers {
    /// The load's population with the shares of the journeys: SKUs and quantities are drawn alike.
    drawn: population::Buyers,
    first_user: u64,
}

impl Buyers {
    pub fn new(plan: &Plan, journeys: &Journeys) -> Self {
        let shares = Population {
            bots: Bots::default(),
            duplicate_share: 0.0,
            pay_share: journeys.pay_share,
            cancel_share: journeys.cancel_share,
            race_share: 0.0,
            status_share: 0.0,
            ..plan.population.clone()
        };
        let skus = u32::try_from(plan.sale.skus.len()).unwrap_or(u32::MAX);
        Self {
            drawn: population::Buyers::new(&shares, plan.seed, skus),
            first_user: plan.population.names(),
        }
    }

    /// What buyer number `buyer` wants on their journey number `journey`, both from 0.
    pub fn purchase(&self, buyer: u64, journey: u64) -> Purchase {
        let key = FIRST_KEY + (buyer << JOURNEY_BITS) + journey;
        let user = self.first_user + buyer;
        Purchase {
            key,
            user,
            address: address::of_person(user),
            duplicate: false,
            ..self.drawn.purchase(key)
        }
    }

    /// What the buyer does with the order.
    pub fn last_step(&self, key: u64) -> Option<NextStep> {
        self.drawn.next_step(key)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::check::{tiny_journeys, tiny_plan};
    use crate::drill::plan::Sku;
    use crate::load::population::{key_of, request_id};

    fn buyers(seed: u64) -> Buyers {
        let mut plan = tiny_plan();
        plan.seed = seed;
        plan.sale.skus = (0..5)
            .map(|number| Sku {
                id: format!("s{number}"),
                stock: 1,
            })
            .collect();
        Buyers::new(&plan, &tiny_journeys())
    }

    proptest! {
        #[test]
        fn keys_and_users_are_their_own_and_the_same_for_the_same_seed(
            seed: u64, buyer in 0_u64..10_000, journey in 0_u64..1 << 32, other in 0_u64..10_000,
        ) {
            let buyers = buyers(seed);
            let purchase = buyers.purchase(buyer, journey);
            prop_assert!(is_journey(purchase.key));
            prop_assert!(!purchase.duplicate && purchase.sku < 5);
            prop_assert_eq!(purchase.user, tiny_plan().population.users + buyer);
            prop_assert_eq!(key_of(seed, &request_id(seed, purchase.key)), Some(purchase.key));
            prop_assert_eq!(purchase, self::buyers(seed).purchase(buyer, journey));
            prop_assert_eq!(buyers.purchase(other, journey).key == purchase.key, other == buyer);
        }

        #[test]
        fn arrivals_are_no_journeys(index in 0_u64..1 << 62) {
            prop_assert!(!is_journey(index));
        }
    }

    #[test]
    fn last_steps_keep_their_shares_and_every_sku_is_wanted() {
        let buyers = buyers(7);
        let keys: Vec<Purchase> = (0..5_000).map(|n| buyers.purchase(n % 20, n)).collect();
        let share = |step| {
            let hits = keys.iter().filter(|one| buyers.last_step(one.key) == step);
            (hits.count() as f64 / 500.0).round()
        };
        let shares = [Some(NextStep::Pay), Some(NextStep::Cancel), None].map(share);
        assert_eq!(shares, [5.0, 2.0, 3.0]);
        assert!((0..5).all(|sku| keys.iter().any(|one| one.sku == sku)));
    }
}
