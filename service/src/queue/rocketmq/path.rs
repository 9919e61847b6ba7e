//! The RocketMQ path: transactions of many orders, and consumers in batches (MQ-1, MQ-5).

use super::{Consumer, Depth, Producer};
use crate::queue::{Answering, OrderQueue, Progress, Submitted};
use crate::sale::order::OrderMessage;

/// Transactional producer and batch consumer, as far as this node's role has them.
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

    /// The broker counts messages; each carries as many orders as this node's do.
    fn backlog(&self) -> Answering<'_, Option<u64>> {
        Box::pin(async {
            let messages = self.progress().await?.backlog() as f64;
            let filling = self
                .producer
                .as_ref()
                .map_or(1.0, Producer::orders_per_message);
            Some((messages * filling) as u64)
        })
    }

    fn is_connected(&self) -> bool {
        let producer = self.producer.as_ref().is_none_or(Producer::is_connected);
        producer && self.consumer.as_ref().is_none_or(Consumer::is_connected)
    }
}
