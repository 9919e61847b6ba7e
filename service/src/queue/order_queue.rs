//! The way from a reservation to an order, as the rest of the service sees it.

use std::pin::Pin;

use super::rocketmq::{Consumer, Depth, Producer};
use super::{Progress, Submitted};
use crate::sale::order::OrderMessage;

/// A boxed answer of a queue.
pub type Answering<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Takes orders, reserves them on the way, and brings them to MySQL.
pub trait OrderQueue: Send + Sync + 'static {
    fn submit(&self, order: OrderMessage) -> Answering<'_, Submitted>;

    /// How far messages have been applied to MySQL; `None` while the queue does not say.
    fn progress(&self) -> Answering<'_, Option<Progress>>;

    /// Orders can be submitted at the moment.
    fn is_connected(&self) -> bool;
}

/// The RocketMQ path: transactional producer and batch consumer, as far as this node's role has them.
pub struct RocketMqQueue {
    pub producer: Option<Producer>,
    pub consumer: Option<Consumer>,
    pub depth: Depth,
}

impl RocketMqQueue {
    /// Ends after the running transactions and the batch in hand.
    pub async fn stop(self) {
        if let Some(producer) = self.producer {
            producer.stop().await;
        }
        if let Some(consumer) = self.consumer {
            consumer.stop().await;
        }
    }
}

impl OrderQueue for RocketMqQueue {
    fn submit(&self, order: OrderMessage) -> Answering<'_, Submitted> {
        match &self.producer {
            Some(producer) => Box::pin(producer.submit(order)),
            None => Box::pin(std::future::ready(Submitted::QueueUnavailable)),
        }
    }

    fn progress(&self) -> Answering<'_, Option<Progress>> {
        Box::pin(async { self.depth.read().await.ok() })
    }

    fn is_connected(&self) -> bool {
        let producer = self.producer.as_ref().is_none_or(Producer::is_connected);
        producer && self.consumer.as_ref().is_none_or(Consumer::is_connected)
    }
}
