//! How far each queue has been applied by this node.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use rocketmq_client_rust::DefaultLitePullConsumer;
use rocketmq_model::common::message::message_ext::MessageExt;
use rocketmq_model::common::message::message_queue::MessageQueue;
use tokio::time::timeout;

/// Offsets reach the broker this often while messages flow.
const PERSIST_EVERY: Duration = Duration::from_millis(200);
/// A broker that takes longer is away; what it does not learn is delivered again.
const SAVE_TIMEOUT: Duration = Duration::from_secs(1);

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
