//! The way from a reservation to an order, as the rest of the service sees it.

use std::pin::Pin;

use super::rocketmq::{Consumer, Producer};
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

/// The RocketMQ path: transactional producer and batch consumer.
pub struct RocketMqQueue {
    pub producer: Producer,
    pub consumer: Consumer,
}

impl RocketMqQueue {
    /// Ends after the running transactions and the batch in hand.
    pub async fn stop(self) {
        self.producer.stop().await;
        self.consumer.stop().await;
    }
}

impl OrderQueue for RocketMqQueue {
    fn submit(&self, order: OrderMessage) -> Answering<'_, Submitted> {
        Box::pin(self.producer.submit(order))
    }

    fn progress(&self) -> Answering<'_, Option<Progress>> {
        Box::pin(async { self.consumer.progress().await.ok() })
    }

    fn is_connected(&self) -> bool {
        self.producer.is_connected() && self.consumer.is_connected()
    }
}
