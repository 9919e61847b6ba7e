//! Plain sending, many messages to a request: what is sent has been decided already.

use std::time::Duration;

use rocketmq_client_rust::{DefaultMQProducer, SendStatus};
use rocketmq_model::common::message::message_single::Message;

use super::QueueError;
use super::client::{self, Host};
use super::watch::{BrokerWatch, Health};
use crate::queue::QueueSettings;
use crate::store::Announcement;

/// Messages of one request: each is below 64 KiB, and the broker takes 4 MiB.
const BATCH_MAX: usize = 50;
/// Not acknowledged by then: sent again.
const SEND_TIMEOUT: Duration = Duration::from_secs(2);

/// Sends from one task; its client is built anew for each life of the broker.
pub struct Publisher {
    settings: QueueSettings,
    watch: BrokerWatch,
    client: Option<Client>,
}

struct Client {
    producer: DefaultMQProducer,
    born: Health,
    host: Host,
}

impl Publisher {
    /// Creates the topic if needed.
    ///
    /// # Errors
    /// No broker is there for a minute.
    pub async fn start(settings: &QueueSettings) -> Result<Self, QueueError> {
        Ok(Self {
            settings: settings.clone(),
            watch: BrokerWatch::start(&settings.namesrv, &settings.topic).await?,
            client: None,
        })
    }

    /// The broker is there.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.watch.health().is_up()
    }

    /// Sends all, and waits until the broker has stored them.
    ///
    /// # Errors
    /// Some may not be stored.
    pub async fn publish(&mut self, all: &[Announcement]) -> Result<(), QueueError> {
        let topic = self.settings.topic.clone();
        let message = |one: &Announcement| {
            Message::builder()
                .topic(topic.as_str())
                .key(one.order_id.as_str())
                .body_slice(one.body.as_bytes())
                .build_unchecked()
        };
        for chunk in all.chunks(BATCH_MAX) {
            let client = self.client().await?;
            let messages = chunk.iter().map(message).collect();
            let timeout_ms = SEND_TIMEOUT.as_millis() as u64;
            let sent = client
                .producer
                .send_batch_with_timeout(messages, timeout_ms)
                .await;
            match sent {
                Ok(result) if result.send_status == SendStatus::SendOk => {}
                Ok(_) => return Err(QueueError::NotFlushed),
                Err(source) => {
                    let error = QueueError::client("announce orders", source);
                    if !error.is_refusal() {
                        self.watch.suspect();
                    }
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// The client, if it belongs to the broker's present life; else a new one.
    async fn client(&mut self) -> Result<&mut Client, QueueError> {
        let now = self.watch.health();
        let is_stale = |client: &Client| client.born.epoch != now.epoch;
        if let Some(old) = self.client.take_if(|client| is_stale(client)) {
            old.host.close().await;
        }
        if !now.is_up() {
            return Err(QueueError::Disconnected);
        }
        let client = match self.client.take() {
            Some(client) => client,
            None => build(&self.settings, now).await?,
        };
        Ok(self.client.insert(client))
    }
}

async fn build(settings: &QueueSettings, born: Health) -> Result<Client, QueueError> {
    let host = Host::new("rocketmq-publisher")?;
    let mut producer = DefaultMQProducer::builder(host.runtime())
        .client_config(client::config(&settings.namesrv))
        .producer_group(format!("{}_relay", settings.group))
        .retry_times_when_send_failed(0)
        .build();
    if let Err(source) = producer.start().await {
        host.close().await;
        return Err(QueueError::client("start the relay's producer", source));
    }
    Ok(Client {
        producer,
        born,
        host,
    })
}
