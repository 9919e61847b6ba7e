//! The ways from a reservation to an order: RocketMQ transactions, an outbox in MySQL, or streams in Redis.

pub mod applier;
pub mod bundle;
pub mod congestion;
mod direct;
mod lanes;
mod order_queue;
pub mod outages;
pub mod outbox;
mod path;
mod progress;
pub mod rocketmq;
pub mod stream;

use std::future::Future;
use std::time::Duration;

pub use order_queue::{Answering, OrderQueue, Queues, Way};
pub use path::QueuePath;
pub use progress::Progress;

use crate::sale::order::{OrderMessage, Reserved};

/// Where the queue is and how much of it is used.
#[derive(Debug, Clone)]
pub struct QueueSettings {
    /// Name server, `host:port`.
    pub namesrv: String,
    pub topic: String,
    /// Consumer group; the producer's group is derived from it.
    pub group: String,
    /// Orders that share a message at most, [`bundle::BUNDLE_MAX`] or fewer.
    pub orders_per_message_max: usize,
    /// Orders of one transaction of MySQL at most.
    pub batch_max: usize,
    /// Messages that come so long after their purchase are not applied.
    pub age_max: Duration,
}

/// The local half of a transaction: the reservation, and what check-back asks about it later.
pub trait LocalTransaction: Send + Sync + 'static {
    fn reserve(&self, message: &OrderMessage) -> impl Future<Output = Reserved> + Send;
    /// Answers a check-back from the reservation ledger.
    fn check(&self, message: &OrderMessage) -> impl Future<Output = Decision> + Send;
}

/// Answer to a check-back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    Commit,
    RollBack,
    /// Ask again later.
    Unknown,
}

/// What became of a submitted order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Submitted {
    /// The reservation was tried, with this outcome, and the message settled accordingly.
    Decided(Reserved),
    /// The order could not be sent; nothing was reserved.
    QueueUnavailable,
    /// Whether it was reserved is not known, and nobody else would find out if this node died.
    InDoubt,
}
