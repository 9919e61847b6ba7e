//! Transactional sending: half message, reservation, commit or roll back; check-back for the rest (MQ-1).
//!
//! A half message is sent once, and again only after the broker has refused it. If its answer is lost it may still be stored:
//! nothing was reserved under it, and the buyer is told that the queue is unavailable. Check-back then finds
//! one of two things. The ledger does not know the order: rolled back after the age limit. Or the buyer's next
//! request with the same id was granted meanwhile: committed, so that two messages of one order are delivered,
//! and the consumption table lets one have an effect.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use rocketmq_client_rust::{ClientError, TransactionMQProducer};
use rocketmq_model::common::message::message_single::Message;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use super::QueueError;
use super::client::{self, Host};
use super::listener::{Call, Listener};
use super::watch::BrokerWatch;
use crate::failpoints::{Point, reach};
use crate::queue::{LocalTransaction, QueueSettings, Submitted};
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

/// Sends orders through the queue; clones share everything.
#[derive(Clone)]
pub struct Producer {
    shared: Arc<Shared>,
}

struct Shared {
    topic: String,
    watch: BrokerWatch,
    in_flight: Arc<Semaphore>,
    client: ArcSwapOption<Client>,
    replacing: OnceLock<JoinHandle<()>>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(task) = self.replacing.get() {
            task.abort();
        }
    }
}

/// One client of the library, good for one epoch of the broker.
struct Client {
    producer: TransactionMQProducer,
    epoch: u64,
    host: Host,
}

/// What a new client needs.
struct Recipe<L> {
    settings: QueueSettings,
    local: Arc<L>,
    handle: Handle,
}

impl Producer {
    /// Creates the topic if needed and connects; waits up to a minute for a broker that is still starting.
    pub async fn start<L: LocalTransaction>(
        settings: &QueueSettings,
        local: Arc<L>,
    ) -> Result<Self, QueueError> {
        let in_flight = settings.transactions_in_flight;
        if in_flight > client::IN_FLIGHT_MAX {
            return Err(QueueError::TooManyInFlight {
                asked: in_flight,
                max: client::IN_FLIGHT_MAX,
            });
        }
        let watch = BrokerWatch::start(&settings.namesrv, &settings.topic).await?;
        let recipe = Recipe {
            settings: settings.clone(),
            local,
            handle: Handle::current(),
        };
        let client = recipe.build(watch.health().epoch).await?;
        let shared = Arc::new(Shared {
            topic: settings.topic.clone(),
            watch,
            in_flight: Arc::new(Semaphore::new(in_flight)),
            client: ArcSwapOption::from_pointee(client),
            replacing: OnceLock::new(),
        });
        let task = tokio::spawn(replace(Arc::downgrade(&shared), recipe));
        let _ = shared.replacing.set(task); // Just created, so it is empty.
        Ok(Self { shared })
    }

    /// Half message, reservation, commit or roll back. Waits for a free place among the transactions in flight;
    /// once begun, a transaction runs to its end even if the caller goes away.
    pub async fn submit(&self, order: OrderMessage) -> Submitted {
        if self.shared.usable().is_none() {
            return Submitted::QueueUnavailable;
        }
        let Ok(place) = Arc::clone(&self.shared.in_flight).acquire_owned().await else {
            return Submitted::QueueUnavailable; // The semaphore is never closed.
        };
        let shared = Arc::clone(&self.shared);
        let running = tokio::spawn(async move {
            let _place = place;
            shared.transact(order).await
        });
        // A panic in there is logged by Tokio; whether anything was reserved is then for check-back to find out.
        running
            .await
            .unwrap_or(Submitted::Decided(Reserved::Unknown))
    }

    /// The broker answers and the client is connected.
    pub fn is_connected(&self) -> bool {
        self.shared.usable().is_some()
    }

    /// Ends the client after its running transactions.
    pub async fn stop(&self) {
        if let Some(task) = self.shared.replacing.get() {
            task.abort();
        }
        if let Some(client) = self.shared.client.swap(None) {
            client.retire().await;
        }
    }
}

impl Shared {
    /// The client, if it belongs to the broker's present life.
    fn usable(&self) -> Option<Arc<Client>> {
        let health = self.watch.health();
        let client = self.client.load_full()?;
        (health.is_up() && client.epoch == health.epoch).then_some(client)
    }

    async fn transact(&self, order: OrderMessage) -> Submitted {
        // Asked again: waiting for a place may have taken long.
        let Some(client) = self.usable() else {
            return Submitted::QueueUnavailable;
        };
        let body = order.body();
        for _ in 1..OFFERS_MAX {
            match self.offer(&client, &order, body.as_bytes()).await {
                Err(error) if error.broker_response_code() == Some(SYSTEM_BUSY) => {
                    sleep(BUSY_PAUSE).await;
                }
                answer => return self.judge(answer),
            }
        }
        self.judge(self.offer(&client, &order, body.as_bytes()).await)
    }

    /// One half message and, if it is stored, its reservation; None if the reservation did not run.
    async fn offer(
        &self,
        client: &Client,
        order: &OrderMessage,
        body: &[u8],
    ) -> Result<Option<Reserved>, ClientError> {
        let message = Message::builder()
            .topic(self.topic.as_str())
            .key(order.order_id.as_str())
            .body_slice(body)
            .build_unchecked();
        let outcome = Arc::new(OnceLock::new());
        let call = Call {
            order: order.clone(),
            outcome: Arc::clone(&outcome),
        };
        client
            .producer
            .send_message_in_transaction(message, Some(call))
            .await?;
        let outcome = outcome.get().copied();
        if matches!(outcome, Some(Reserved::Granted { .. })) {
            reach(Point::AfterCommit);
        }
        Ok(outcome)
    }

    fn judge(&self, answer: Result<Option<Reserved>, ClientError>) -> Submitted {
        match answer {
            Ok(Some(reserved)) => Submitted::Decided(reserved),
            Ok(None) => {
                // Not stored as asked (flush time-out), or no thread for the listener: nothing was reserved.
                tracing::warn!("half message without reservation; it is rolled back");
                Submitted::QueueUnavailable
            }
            Err(error) => {
                // A broker that answers with a refusal is alive: overload is no outage.
                if error.broker_response_code().is_none() {
                    self.watch.suspect();
                }
                tracing::debug!(%error, "half message was not acknowledged");
                Submitted::QueueUnavailable
            }
        }
    }
}

impl<L: LocalTransaction> Recipe<L> {
    async fn build(&self, epoch: u64) -> Result<Client, QueueError> {
        let host = Host::new("rocketmq-producer")?;
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
            })
            .check_thread_pool_min_size(1)
            .check_thread_pool_max_size(client::CHECK_BACKS_AT_ONCE)
            .check_request_hold_max(CHECK_BACKS_WAITING)
            .build();
        if let Err(source) = producer.start().await {
            host.close().await;
            return Err(QueueError::client("start the producer", source));
        }
        Ok(Client {
            producer,
            epoch,
            host,
        })
    }
}

impl Client {
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
async fn replace<L: LocalTransaction>(shared: std::sync::Weak<Shared>, recipe: Recipe<L>) {
    let Some(mut health) = shared.upgrade().map(|shared| shared.watch.subscribe()) else {
        return;
    };
    while health.changed().await.is_ok() {
        let now = *health.borrow_and_update();
        let Some(shared) = shared.upgrade() else {
            return;
        };
        let epoch = shared.client.load().as_ref().map(|client| client.epoch);
        if !now.is_up() || epoch == Some(now.epoch) {
            continue;
        }
        match recipe.build(now.epoch).await {
            Ok(client) => {
                tracing::info!(epoch = now.epoch, "RocketMQ producer is connected again");
                if let Some(old) = shared.client.swap(Some(Arc::new(client))) {
                    tokio::spawn(old.retire());
                }
            }
            Err(error) => {
                // The next probe that succeeds brings us here again.
                tracing::warn!(%error, "RocketMQ producer could not be rebuilt");
                sleep(REBUILD_PAUSE).await;
                shared.watch.suspect();
            }
        }
    }
}
