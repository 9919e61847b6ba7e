//! Transactional sending: half message, reservations, commit or roll back; check-back for the rest (MQ-1).
//!
//! A half message is sent once, and again only after the broker has refused it. If its answer is lost it may still be stored:
//! nothing was reserved under it, and its buyers are told that the queue is unavailable. Check-back then finds, for each of
//! its orders, one of two things. The ledger does not know the order: rolled back after the age limit. Or the buyer's next
//! request with the same id was granted meanwhile: committed, so that two messages of one order are delivered, and the
//! consumption table lets one have an effect.

use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use rocketmq_client_rust::{ClientError, TransactionMQProducer};
use rocketmq_model::common::message::message_single::Message;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use super::QueueError;
use super::client::{self, Host};
use super::filling::Filling;
use super::listener::{Call, Listener};
use super::watch::BrokerWatch;
use crate::failpoints::{Point, reach};
use crate::queue::{LocalTransaction, QueueSettings, Submitted, bundle};
use crate::sale::order::{OrderMessage, Reserved};

/// Half messages that are not acknowledged by then are given up.
const SEND_TIMEOUT: Duration = Duration::from_millis(1_500);
/// The broker's flow control refused the request before storing anything (`ResponseCode.java`), so that offering
/// it again doubles nothing. Seen on a cold or overloaded broker.
const SYSTEM_BUSY: i32 = 2;
const OFFERS_MAX: u32 = 3;
const BUSY_PAUSE: Duration = Duration::from_millis(100);
/// Check-backs waiting for a thread; more are refused and come again.
const CHECK_BACKS_WAITING: u32 = 20_000;
/// Between two attempts to build a client.
const REBUILD_PAUSE: Duration = Duration::from_millis(200);
/// A replaced client may finish its transactions for this long.
const FINISH_TIMEOUT: Duration = Duration::from_secs(5);

/// Sends through the client of the broker's present life.
pub(super) struct Sender {
    watch: BrokerWatch,
    client: ArcSwapOption<Client>,
    replacing: OnceLock<JoinHandle<()>>,
    pub filling: Filling,
}

impl Drop for Sender {
    fn drop(&mut self) {
        if let Some(task) = self.replacing.get() {
            task.abort();
        }
    }
}

/// One client of the library, good for one epoch of the broker.
pub(super) struct Client {
    producer: TransactionMQProducer,
    topic: String,
    epoch: u64,
    host: Host,
}

/// What a new client needs.
pub(super) struct Recipe<L> {
    pub settings: QueueSettings,
    pub local: Arc<L>,
    pub handle: Handle,
}

impl Sender {
    pub async fn start<L: LocalTransaction>(recipe: Recipe<L>) -> Result<Arc<Self>, QueueError> {
        let QueueSettings { namesrv, topic, .. } = &recipe.settings;
        let watch = BrokerWatch::start(namesrv, topic).await?;
        let client = recipe.build(watch.health().epoch).await?;
        let sender = Arc::new(Self {
            watch,
            client: ArcSwapOption::new(Some(client)),
            replacing: OnceLock::new(),
            filling: Filling::default(),
        });
        let task = tokio::spawn(replace(Arc::downgrade(&sender), recipe));
        let _ = sender.replacing.set(task); // Just created, so it is empty.
        Ok(sender)
    }

    /// The client, if it belongs to the broker's present life.
    pub fn usable(&self) -> Option<Arc<Client>> {
        let health = self.watch.health();
        let client = self.client.load_full()?;
        (health.is_up() && client.epoch == health.epoch).then_some(client)
    }

    /// One transaction; an answer for each order.
    pub async fn transact(&self, orders: Vec<OrderMessage>) -> Vec<Submitted> {
        let unavailable = vec![Submitted::QueueUnavailable; orders.len()];
        let Some(client) = self.usable() else {
            return unavailable;
        };
        self.filling.note(orders.len());
        let reserved = self.offer_until_taken(&client, orders.into()).await;
        reserved.map_or(unavailable, |reserved| {
            reserved.into_iter().map(Submitted::Decided).collect()
        })
    }

    /// None: nothing was reserved.
    async fn offer_until_taken(
        &self,
        client: &Client,
        orders: Arc<[OrderMessage]>,
    ) -> Option<Vec<Reserved>> {
        for _ in 1..OFFERS_MAX {
            match client.offer(&orders).await {
                Err(error) if error.broker_response_code() == Some(SYSTEM_BUSY) => {
                    sleep(BUSY_PAUSE).await;
                }
                answer => return self.judge(answer),
            }
        }
        self.judge(client.offer(&orders).await)
    }

    fn judge(&self, answer: Result<Option<Vec<Reserved>>, ClientError>) -> Option<Vec<Reserved>> {
        match answer {
            Ok(Some(reserved)) => Some(reserved),
            Ok(None) => {
                // Not stored as asked (flush time-out), or no thread for the listener: nothing was reserved.
                tracing::warn!("half message without reservation; it is rolled back");
                None
            }
            Err(error) => {
                // A broker that answers with a refusal is alive: overload is no outage.
                if error.broker_response_code().is_none() {
                    self.watch.suspect();
                }
                tracing::debug!(%error, "half message was not acknowledged");
                None
            }
        }
    }

    /// Ends the client after its running transactions.
    pub async fn stop(&self) {
        if let Some(task) = self.replacing.get() {
            task.abort();
        }
        if let Some(client) = self.client.swap(None) {
            client.retire().await;
        }
    }
}

impl<L: LocalTransaction> Recipe<L> {
    async fn build(&self, epoch: u64) -> Result<Arc<Client>, QueueError> {
        let host = Host::new("rocketmq-producer")?;
        let listened_for = Arc::<OnceLock<Weak<Client>>>::default();
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
        let client = Arc::new(Client {
            producer,
            topic: self.settings.topic.clone(),
            epoch,
            host,
        });
        let _ = listened_for.set(Arc::downgrade(&client)); // New, so it is empty.
        Ok(client)
    }
}

impl Client {
    /// One half message and, if it is stored, the reservation of its orders; None if that did not run.
    async fn offer(
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
    async fn retire(self: Arc<Self>) {
        let deadline = Instant::now() + FINISH_TIMEOUT;
        while Arc::strong_count(&self) > 1 && Instant::now() < deadline {
            sleep(Duration::from_millis(50)).await;
        }
        self.host.close().await;
    }
}

/// Replaces the client whenever the broker has begun a new epoch.
async fn replace<L: LocalTransaction>(sender: Weak<Sender>, recipe: Recipe<L>) {
    let Some(mut health) = sender.upgrade().map(|sender| sender.watch.subscribe()) else {
        return;
    };
    while health.changed().await.is_ok() {
        let now = *health.borrow_and_update();
        let Some(sender) = sender.upgrade() else {
            return;
        };
        let epoch = sender.client.load().as_ref().map(|client| client.epoch);
        if !now.is_up() || epoch == Some(now.epoch) {
            continue;
        }
        match recipe.build(now.epoch).await {
            Ok(client) => {
                tracing::info!(epoch = now.epoch, "RocketMQ producer is connected again");
                if let Some(old) = sender.client.swap(Some(client)) {
                    tokio::spawn(old.retire());
                }
            }
            Err(error) => {
                // The next probe that succeeds brings us here again.
                tracing::warn!(%error, "RocketMQ producer could not be rebuilt");
                sleep(REBUILD_PAUSE).await;
                sender.watch.suspect();
            }
        }
    }
}
