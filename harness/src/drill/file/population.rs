//! `[population]`: who buys, and how.

use deserr::Deserr;

use crate::drill::problems::Problems;
use crate::drill::range::{Backoff, Count, Factor, Share};

#[derive(Debug, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct PopulationSection {
    pub users: Count,
    #[deserr(default = Count::new(1).expect("1 is in range"))]
    pub quantity: Count,
    /// Exponent of Zipf's law: how much the first SKUs are wanted before the others; 0 is evenly.
    #[deserr(default = Factor::new(0.0).expect("0 is a factor"))]
    pub sku_skew: Factor,
    /// Arrivals that are a bot's: one of `bot_users` beside the users, from `bot_addresses` addresses. Bots want
    /// the first SKU.
    #[deserr(default = Share::new(0.0).expect("0 is a share"))]
    pub bot_share: Share,
    #[deserr(default = Count::new(100).expect("100 is in range"))]
    pub bot_users: Count,
    #[deserr(default = Count::new(10).expect("10 is in range"))]
    pub bot_addresses: Count,
    #[deserr(default = Share::new(0.0).expect("0 is a share"))]
    pub duplicate_share: Share,
    /// Purchases whose buyer clicks again after a refusal that may pass, or no answer: `retry_after_ms` later, give or
    /// take half, each time `retry_backoff` times as long, up to `retry_max` times.
    #[deserr(default = Share::new(0.0).expect("0 is a share"))]
    pub retry_share: Share,
    #[deserr(default = Count::new(1_000).expect("1000 is in range"))]
    pub retry_after_ms: Count,
    #[deserr(default = Backoff::new(1.0).expect("1 is a backoff"))]
    pub retry_backoff: Backoff,
    #[deserr(default = Count::new(3).expect("3 is in range"))]
    pub retry_max: Count,
    #[deserr(default = Share::new(0.0).expect("0 is a share"))]
    pub pay_share: Share,
    #[deserr(default = Share::new(0.0).expect("0 is a share"))]
    pub cancel_share: Share,
    /// Accepted purchases that are paid and cancelled at the same moment.
    #[deserr(default = Share::new(0.0).expect("0 is a share"))]
    pub race_share: Share,
    #[deserr(default = Share::new(0.0).expect("0 is a share"))]
    pub status_share: Share,
    #[deserr(default = Count::new(1_000).expect("1000 is in range"))]
    pub follow_up_after_ms: Count,
    /// Buyers of `status_share` ask so many times, so far apart.
    #[deserr(default = Count::new(1).expect("1 is in range"))]
    pub poll_max: Count,
    #[deserr(default = Count::new(1_000).expect("1000 is in range"))]
    pub poll_every_ms: Count,
}
