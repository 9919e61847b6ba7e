//! How far each queue has been applied by this node.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use rocketmq_client_rust::DefaultLitePullConsumer;
use rocketmq_model::common::message::message_queue::MessageQueue;
use tokio::time::timeout;

/// Offsets reach the broker this often while messages flow.
const PERSIST_EVERY: Duration = Duration::from_millis(200);
/// The broker is told again this often what it should know: a node that loses a queue may tell it less after the
/// queue's new owner has told it more, and where no message follows, that would stand.
const REPEAT_EVERY: Duration = Duration::from_secs(5);
/// A broker that takes longer is away; what it does not learn is delivered again.
const SAVE_TIMEOUT: Duration = Duration::from_secs(1);

/// Next offset to consume, per queue of this node.
#[derive(Default)]
pub(super) struct Offsets {
    applied: HashMap<MessageQueue, i64>,
    /// Those of them that are not on the broker yet.
    unsaved: HashMap<MessageQueue, i64>,
    saved_at: Option<Instant>,
    repeated_at: Option<Instant>,
}

impl Offsets {
    /// Remembers that these messages have been applied, and commits that: in the client at once, on the broker
    /// every 200 ms. A lost commit means redelivery, which the consumption table makes harmless.
    pub async fn commit(
        &mut self,
        consumer: &DefaultLitePullConsumer,
        applied: &HashMap<MessageQueue, i64>,
    ) {
        raise(&mut self.applied, applied);
        raise(&mut self.unsaved, applied);
        if is_due(self.saved_at, PERSIST_EVERY) {
            self.save(consumer).await;
        } else if !applied.is_empty() {
            consumer.commit_with_map(applied.clone(), false).await;
        }
    }

    /// Brings all commits to the broker.
    pub async fn save(&mut self, consumer: &DefaultLitePullConsumer) {
        let repeats = is_due(self.repeated_at, REPEAT_EVERY) && !self.applied.is_empty();
        if self.unsaved.is_empty() && !repeats {
            return;
        }
        let saving = async {
            if repeats {
                self.repeat(consumer).await;
            } else {
                consumer.commit_with_map(self.unsaved.clone(), true).await;
            }
        };
        let saved = timeout(SAVE_TIMEOUT, saving).await.is_ok();
        let now = Some(Instant::now());
        if saved {
            self.unsaved.clear();
            self.repeated_at = if repeats { now } else { self.repeated_at };
        }
        self.saved_at = now;
    }

    /// Everything once more, but nothing of a queue that another node has now: that node knows more.
    async fn repeat(&mut self, consumer: &DefaultLitePullConsumer) {
        if let Ok(ours) = consumer.assignment().await {
            self.applied.retain(|queue, _| ours.contains(queue));
        }
        forget_saved(consumer, &self.applied).await;
        consumer.commit_with_map(self.applied.clone(), true).await;
    }
}

fn raise(known: &mut HashMap<MessageQueue, i64>, applied: &HashMap<MessageQueue, i64>) {
    for (queue, next) in applied {
        let offset = known.entry(queue.clone()).or_insert(*next);
        *offset = (*offset).max(*next);
    }
}

fn is_due(last: Option<Instant>, every: Duration) -> bool {
    last.is_none_or(|at| at.elapsed() >= every)
}

/// The client does not send an offset that it has sent before. It forgets the queues that are not among those it is to
/// save, so it is told to save one that there is not.
async fn forget_saved(consumer: &DefaultLitePullConsumer, queues: &HashMap<MessageQueue, i64>) {
    if let Some(queue) = queues.keys().next() {
        let (topic, broker) = (queue.topic().as_str(), queue.broker_name());
        let nowhere = MessageQueue::from_parts(topic, broker, -1);
        consumer.commit_with_map([(nowhere, 0)].into(), true).await;
    }
}
