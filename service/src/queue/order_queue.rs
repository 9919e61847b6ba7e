//! The way from a reservation to an order, as the rest of the service sees it.

use std::pin::Pin;

use super::Submitted;
use crate::sale::order::OrderMessage;

/// A boxed answer of a queue.
pub type Answering<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Takes orders, reserves them on the way, and brings them to MySQL.
pub trait OrderQueue: Send + Sync + 'static {
    fn submit(&self, order: OrderMessage) -> Answering<'_, Submitted>;

    /// Messages that have not been applied to MySQL; `None` while the queue does not say.
    fn backlog(&self) -> Answering<'_, Option<u64>>;
}
