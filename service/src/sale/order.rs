//! One buyer's order as it travels through the queue, and what the reservation said about it.

use serde::{Deserialize, Serialize};

/// Body of the message of one order (JSON).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderMessage {
    pub order_id: String,
    pub sale: String,
    pub sku: String,
    pub user: String,
    pub quantity: u32,
    pub request_id: String,
    /// When the request was accepted, milliseconds since the Unix epoch.
    pub at_ms: u64,
}

/// Outcome of one reservation in Redis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reserved {
    Granted {
        remaining: i64,
    },
    Duplicate,
    SoldOut,
    LimitReached,
    NotStarted,
    Ended,
    Closed,
    UnknownSku,
    /// The order id was settled as refused before this reservation came.
    Refused,
    /// Sent, and the outcome is not known.
    Unknown,
    /// Not sent.
    Unavailable,
}
