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
use rocketmq_client_rust::ClientError;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::QueueError;
use super::filling::Filling;
use super::transactor::{Recipe, Transactor};
use super::watch::BrokerWatch;
use crate::queue::{LocalTransaction, QueueSettings, Submitted};
use crate::sale::order::{OrderMessage, Reserved};

/// The broker's flow control refused the request before storing anything (`ResponseCode.java`), so that offering
/// it again doubles nothing. Seen on a cold or overloaded broker.
const SYSTEM_BUSY: i32 = 2;
const OFFERS_MAX: u32 = 3;
const BUSY_PAUSE: Duration = Duration::from_millis(100);
/// Between two attempts to build a client.
const REBUILD_PAUSE: Duration = Duration::from_millis(200);

/// Sends through the client of the broker's present life.
pub(super) struct Sender {
    watch: BrokerWatch,
    client: ArcSwapOption<Transactor>,
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
    pub fn usable(&self) -> Option<Arc<Transactor>> {
        let health = self.watch.health();
        let client = self.client.load_full()?;
        (health.is_up() && client.epoch == health.epoch).then_some(client)
    }

    /// One transaction; an answer for each order.
    pub async fn transact(&self, orders: Vec<OrderMessage>) -> Vec<Submitted> {
        let count = orders.len();
        let reserved = match self.usable() {
            Some(client) => {
                self.filling.note(count);
                self.offer_until_taken(&client, orders.into()).await
            }
            None => None,
        };
        match reserved {
            Some(reserved) => reserved.into_iter().map(Submitted::Decided).collect(),
            None => vec![Submitted::QueueUnavailable; count],
        }
    }

    /// None: nothing was reserved.
    async fn offer_until_taken(
        &self,
        client: &Transactor,
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
