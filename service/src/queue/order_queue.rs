//! The way from a reservation to an order, as the rest of the service sees it.

use std::pin::Pin;
use std::sync::Arc;

use super::congestion::Congestion;
use super::{Progress, QueuePath, Submitted};
use crate::sale::catalogue::Catalogue;
use crate::sale::order::OrderMessage;
use crate::sale::sku::Sku;

/// A boxed answer of a queue.
pub type Answering<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Takes orders, reserves them on the way, and brings them to MySQL.
pub trait OrderQueue: Send + Sync + 'static {
    fn submit(&self, order: OrderMessage) -> Answering<'_, Submitted>;

    /// How far messages have been applied to MySQL; `None` while the queue does not say.
    fn progress(&self) -> Answering<'_, Option<Progress>>;

    /// Orders that wait to be applied; `None` while the queue does not say.
    fn backlog(&self) -> Answering<'_, Option<u64>> {
        Box::pin(async { Some(self.progress().await?.backlog()) })
    }

    /// Orders can be submitted at the moment.
    fn is_connected(&self) -> bool;

    /// Brings to MySQL what Redis has reserved and nobody is left to submit. Where the queue itself asks about such
    /// orders there is nothing to do. Returns how many are there now.
    fn adopt(&self, _orders: Vec<OrderMessage>) -> Answering<'_, usize> {
        Box::pin(std::future::ready(0))
    }
}

/// One queue, and whether it has as much as it may.
#[derive(Clone)]
pub struct Way {
    pub queue: Arc<dyn OrderQueue>,
    pub congestion: Congestion,
}

impl Way {
    pub fn new(queue: Arc<dyn OrderQueue>) -> Self {
        Self {
            queue,
            congestion: Congestion::default(),
        }
    }
}

/// Every way there is; each sale has chosen one.
#[derive(Clone)]
pub struct Queues {
    pub rocketmq: Way,
    pub outbox: Way,
    pub stream: Way,
}

impl Queues {
    #[must_use]
    pub fn all(&self) -> [&Way; 3] {
        [&self.rocketmq, &self.outbox, &self.stream]
    }

    #[must_use]
    pub fn at(&self, path: QueuePath) -> &Way {
        match path {
            QueuePath::RocketMq => &self.rocketmq,
            QueuePath::Outbox => &self.outbox,
            QueuePath::Stream => &self.stream,
        }
    }

    /// The way of a SKU's orders.
    #[must_use]
    pub fn of(&self, sku: &Sku) -> &Way {
        self.at(sku.rules().queue)
    }

    /// How far the messages of a way have been applied; `None` while that is not known, or orders cannot be submitted.
    pub async fn reading(&self, path: QueuePath) -> Option<Progress> {
        let queue = &self.at(path).queue;
        let reading = queue.progress().await;
        reading.filter(|_| queue.is_connected())
    }

    /// Orders of every SKU that is known can be submitted; while none is known, orders by every way.
    #[must_use]
    pub fn are_connected(&self, catalogue: &Catalogue) -> bool {
        let skus = catalogue.all();
        match skus.is_empty() {
            true => self.all().iter().all(|way| way.queue.is_connected()),
            false => skus.iter().all(|sku| self.of(sku).queue.is_connected()),
        }
    }

    /// Orders that wait to be applied, on all ways; `None` if one does not say.
    pub async fn backlog(&self) -> Option<u64> {
        let mut backlog = 0;
        for way in self.all() {
            backlog += way.queue.backlog().await?;
        }
        Some(backlog)
    }
}
