//! The library's transactional client, good for one life of the broker, and how one is made.

use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use rocketmq_client_rust::{ClientError, TransactionMQProducer};
use rocketmq_model::common::message::message_single::Message;
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep};

use super::QueueError;
use super::client::{self, Host};
use super::listener::{Call, Listener};
use crate::failpoints::{Point, reach};
use crate::queue::{LocalTransaction, QueueSettings, bundle};
use crate::sale::order::{OrderMessage, Reserved};

/// Half messages that are not acknowledged by then are given up.
const SEND_TIMEOUT: Duration = Duration::from_millis(1_500);
/// Check-backs waiting for a thread; more are refused and come again.
const CHECK_BACKS_WAITING: u32 = 20_000;
/// A replaced client may finish its transactions for this long.
const FINISH_TIMEOUT: Duration = Duration::from_secs(5);

/// Sends until the broker begins a new epoch.
pub(super) struct Transactor {
    producer: TransactionMQProducer,
    topic: String,
    pub epoch: u64,
    host: Host,
}

/// What a new one needs.
pub(super) struct Recipe<L> {
    pub settings: QueueSettings,
    pub local: Arc<L>,
    pub handle: Handle,
}

impl<L: LocalTransaction> Recipe<L> {
    pub async fn build(&self, epoch: u64) -> Result<Arc<Transactor>, QueueError> {
        let host = Host::new("rocketmq-producer")?;
        let listened_for = Arc::<OnceLock<Weak<Transactor>>>::default();
        let mut producer = TransactionMQProducer::builder(host.runtime())
            .client_config(client::config(&self.settings.namesrv))
            .producer_group(format!("{}_producer", self.settings.group))
            .topics(vec![self.settings.topic.as_str()])
            .send_msg_timeout(SEND_TIMEOUT.as_millis() as u32)
            .retry_times_when_send_failed(0)
            .retry_times_when_send_async_failed(0)
            .retry_another_broker_when_not_store_ok(false)
            .transaction_listener(Listener {
                local: Arc::clone(&self.local),
                handle: self.handle.clone(),
                client: Arc::clone(&listened_for),
            })
            .check_thread_pool_min_size(1)
            .check_thread_pool_max_size(client::CHECK_BACKS_AT_ONCE)
            .check_request_hold_max(CHECK_BACKS_WAITING)
            .build();
        if let Err(source) = producer.start().await {
            host.close().await;
            return Err(QueueError::client("start the producer", source));
        }
        let client = Arc::new(Transactor {
            producer,
            topic: self.settings.topic.clone(),
            epoch,
            host,
        });
        let _ = listened_for.set(Arc::downgrade(&client)); // New, so it is empty.
        Ok(client)
    }
}

impl Transactor {
    /// One half message and, if it is stored, the reservation of its orders; None if that did not run.
    pub async fn offer(
        &self,
        orders: &Arc<[OrderMessage]>,
    ) -> Result<Option<Vec<Reserved>>, ClientError> {
        let outcomes = Arc::<OnceLock<Vec<Reserved>>>::default();
        let call = Call::Reserve {
            orders: Arc::clone(orders),
            outcomes: Arc::clone(&outcomes),
        };
        let carried: Vec<&OrderMessage> = orders.iter().collect();
        self.send(&carried, call).await?;
        let reserved = outcomes.get().cloned();
        if reserved.iter().flatten().any(Reserved::is_granted) {
            reach(Point::AfterCommit);
        }
        Ok(reserved)
    }

    /// One half message, what its listener makes of it, and the answer that follows from that.
    pub async fn send(&self, orders: &[&OrderMessage], call: Call) -> Result<(), ClientError> {
        let message = Message::builder()
            .topic(self.topic.as_str())
            .key(bundle::keys(orders.iter().copied()))
            .body_slice(bundle::body(orders).as_bytes())
            .build_unchecked();
        self.producer
            .send_message_in_transaction(message, Some(call))
            .await
            .map(drop)
    }

    /// Closes the client when its last transaction has ended, or after a while.
    pub async fn retire(self: Arc<Self>) {
        let deadline = Instant::now() + FINISH_TIMEOUT;
        while Arc::strong_count(&self) > 1 && Instant::now() < deadline {
            sleep(Duration::from_millis(50)).await;
        }
        self.host.close().await;
    }
}
