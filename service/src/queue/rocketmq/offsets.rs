//! How far each queue has been applied, and how far it is filled.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use rocketmq_client_rust::DefaultLitePullConsumer;
use rocketmq_model::common::message::message_ext::MessageExt;
use rocketmq_model::common::message::message_queue::MessageQueue;
use tokio::time::timeout;

use super::QueueError;
use crate::queue::Progress;

/// Offsets reach the broker this often while messages flow.
const PERSIST_EVERY: Duration = Duration::from_millis(200);
/// A broker that takes longer is away; what it does not learn is delivered again.
const SAVE_TIMEOUT: Duration = Duration::from_secs(1);
/// All queues are asked one after the other.
const PROGRESS_TIMEOUT: Duration = Duration::from_secs(2);
/// The broker has no offset of this group for the queue.
const NONE_STORED: i64 = -1;

/// Next offset to consume, per queue, as far as it is not on the broker yet.
#[derive(Default)]
pub(super) struct Offsets {
    unsaved: HashMap<MessageQueue, i64>,
    saved_at: Option<Instant>,
}

impl Offsets {
    /// Remembers that these messages have been applied, and commits that: in the client at once, on the broker
    /// every 200 ms. A lost commit means redelivery, which the consumption table makes harmless.
    pub async fn commit(
        &mut self,
        consumer: &DefaultLitePullConsumer,
        applied: &HashMap<MessageQueue, i64>,
    ) {
        for (queue, next) in applied {
            let offset = self.unsaved.entry(queue.clone()).or_insert(*next);
            *offset = (*offset).max(*next);
        }
        let due = self.saved_at.is_none_or(|at| at.elapsed() >= PERSIST_EVERY);
        if due {
            self.save(consumer).await;
        } else if !applied.is_empty() {
            consumer.commit_with_map(applied.clone(), false).await;
        }
    }

    /// Brings all commits to the broker.
    pub async fn save(&mut self, consumer: &DefaultLitePullConsumer) {
        if self.unsaved.is_empty() {
            return;
        }
        let saving = consumer.commit_with_map(self.unsaved.clone(), true);
        if timeout(SAVE_TIMEOUT, saving).await.is_ok() {
            self.unsaved.clear();
        }
        self.saved_at = Some(Instant::now());
    }
}

/// The next offsets after these messages.
pub(super) fn after<'a>(
    messages: impl IntoIterator<Item = &'a MessageExt>,
) -> HashMap<MessageQueue, i64> {
    let mut next = HashMap::new();
    for message in messages {
        let queue = MessageQueue::from_parts(
            message.topic().as_str(),
            message.broker_name(),
            message.queue_id(),
        );
        let offset = next.entry(queue).or_insert(0);
        *offset = (*offset).max(message.queue_offset() + 1);
    }
    next
}

/// How far the topic's queues are filled and how far this group has committed them, over all consumers of the
/// group. Messages still half, between reservation and commit, are not among them.
pub(super) async fn progress(
    consumer: &DefaultLitePullConsumer,
    topic: &str,
) -> Result<Progress, QueueError> {
    timeout(PROGRESS_TIMEOUT, read_queues(consumer, topic))
        .await
        .unwrap_or(Err(QueueError::Disconnected))
}

async fn read_queues(
    consumer: &DefaultLitePullConsumer,
    topic: &str,
) -> Result<Progress, QueueError> {
    let wrap = |source| QueueError::client("read the topic's offsets", source);
    let queues = consumer.fetch_message_queues(topic).await.map_err(wrap)?;
    let mut read = Vec::with_capacity(queues.len());
    for queue in &queues {
        let filled = consumer.max_offset(queue).await.map_err(wrap)?;
        let mut applied = match filled {
            0 => 0,
            _ => consumer.committed(queue).await.map_err(wrap)?,
        };
        if applied == NONE_STORED {
            applied = consumer.min_offset(queue).await.map_err(wrap)?;
        }
        let name = format!("{}/{}", queue.broker_name(), queue.queue_id());
        read.push((name, filled, applied));
    }
    Ok(Progress::new(read))
}
