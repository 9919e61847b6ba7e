//! Who buys what: a pure function of seed and index.

use serde::{Deserialize, Serialize};

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

/// The request id (idempotency key) that attempts of the purchase `key` carry.
pub fn request_id(seed: u64, key: u64) -> String {
    format!("{seed:016x}-{key}")
}

/// The name that buyer `user` goes by.
pub fn user_id(user: u64) -> String {
    format!("u{user}")
}
