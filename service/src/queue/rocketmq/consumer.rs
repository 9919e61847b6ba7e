//! Batch consumption: pull, apply to MySQL, and only then commit the offsets (MQ-5, MQ-11).

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use rocketmq_client_rust::DefaultLitePullConsumer;
use rocketmq_model::common::consumer::consume_from_where::ConsumeFromWhere;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::QueueError;
use super::client::{self, Host};
use super::offsets::Offsets;
use super::polled::Polled;
use super::watch::{BrokerWatch, Health};
use crate::failpoints::{Point, reach};
use crate::parts::parts;
use crate::queue::applier::Applier;
use crate::queue::{QueuePath, QueueSettings};
use crate::store::{Applied, Entry, Store};

/// Messages of one pull from one queue.
const PULL_BATCH: i32 = 256;
/// Orders taken from the client's buffer at once, and so uncommitted at most.
const ORDERS_MAX: usize = 1_000;
/// The broker holds a pull that finds nothing for so long, and one that is not answered in so long is made again. When
/// a connection is cut the client goes on waiting for the answers that were to come on it: with the library's 20 s and
/// 30 s, a queue stood still for half a minute.
const PULL_HELD: Duration = Duration::from_secs(3);
const PULL_PATIENCE: Duration = Duration::from_secs(6);
/// Waiting for the first message; bounds how late a stop or an outage is noticed.
const POLL_WAIT_MS: u64 = 200;
/// The last offsets are on their way to the broker; nothing says when they have arrived.
const OFFSETS_PAUSE: Duration = Duration::from_millis(100);
const REBUILD_PAUSE: Duration = Duration::from_millis(200);

/// Brings committed messages to MySQL until it is stopped.
pub struct Consumer {
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

struct Shared {
    settings: QueueSettings,
    watch: BrokerWatch,
    /// None while the broker is gone.
    client: ArcSwapOption<Client>,
}

/// One client of the library, good for one epoch of the broker.
struct Client {
    puller: DefaultLitePullConsumer,
    host: Host,
}

impl Consumer {
    /// Creates the topic if needed and starts consuming from the group's offsets, or from the first message if
    /// there are none. `on_applied` hears of each batch after its commit.
    pub async fn start<F>(
        settings: &QueueSettings,
        store: Store,
        on_applied: F,
    ) -> Result<Self, QueueError>
    where
        F: Fn(&[Applied]) + Send + Sync + 'static,
    {
        let watch = BrokerWatch::start(&settings.namesrv, &settings.topic).await?;
        let shared = Arc::new(Shared {
            settings: settings.clone(),
            watch,
            client: ArcSwapOption::empty(),
        });
        let (stop, stopped) = watch::channel(false);
        let applier = Applier {
            store,
            entry: Entry::Delivered,
            batch_max: settings.batch_max,
            age_max: settings.age_max,
            on_applied: Arc::new(on_applied),
            is_stuck: Arc::default(),
            stopped: stopped.clone(),
        };
        let task = tokio::spawn(run(Arc::clone(&shared), applier, stopped));
        Ok(Self { shared, stop, task })
    }

    /// Messages can be pulled at the moment.
    pub fn is_connected(&self) -> bool {
        self.shared.watch.health().is_up() && self.shared.client.load().is_some()
    }

    /// Ends after the batch in hand; what is not committed is delivered again to whoever consumes next.
    pub async fn stop(self) {
        let _ = self.stop.send(true); // Fails only if the task has ended.
        if let Err(error) = self.task.await {
            tracing::error!(%error, "consumer ended abnormally");
        }
    }
}

/// One client per epoch of the broker, one after the other.
async fn run<F>(shared: Arc<Shared>, applier: Applier<F>, stopped: watch::Receiver<bool>)
where
    F: Fn(&[Applied]) + Send + Sync + 'static,
{
    let mut health = shared.watch.subscribe();
    while !*stopped.borrow() {
        let now = *health.borrow_and_update();
        if !now.is_up() {
            let _ = timeout(REBUILD_PAUSE, health.changed()).await;
            continue;
        }
        match connect(&shared.settings).await {
            Ok(client) => {
                tracing::info!(epoch = now.epoch, "RocketMQ consumer is connected");
                let client = Arc::new(client);
                shared.client.store(Some(Arc::clone(&client)));
                consume(&client.puller, now, &health, &applier, &stopped).await;
                shared.client.store(None);
                // Before the next one starts: two clients would share the queues.
                sleep(OFFSETS_PAUSE).await;
                client.host.close().await;
            }
            Err(error) => {
                tracing::warn!(%error, "RocketMQ consumer could not be built");
                sleep(REBUILD_PAUSE).await;
            }
        }
    }
}

async fn connect(settings: &QueueSettings) -> Result<Client, QueueError> {
    let wrap = |source| QueueError::client("start the consumer", source);
    let patience = parts().pull_patience(PULL_PATIENCE);
    let host = Host::new("rocketmq-consumer")?;
    let puller = DefaultLitePullConsumer::builder(host.runtime())
        .client_options(client::config(&settings.namesrv).into())
        .consumer_group(settings.group.as_str())
        .consume_from_where(ConsumeFromWhere::ConsumeFromFirstOffset)
        .auto_commit(false)
        .pull_batch_size(PULL_BATCH)
        .broker_suspend_max_time_millis(PULL_HELD.as_millis() as u64)
        .consumer_timeout_millis_when_suspend(patience.as_millis() as u64)
        .build()
        .map_err(wrap)?;
    puller.subscribe(&settings.topic).await.map_err(wrap)?;
    if let Err(source) = puller.start().await {
        host.close().await;
        return Err(wrap(source));
    }
    Ok(Client { puller, host })
}

/// Until the broker goes away or the consumer is stopped.
async fn consume<F>(
    puller: &DefaultLitePullConsumer,
    born: Health,
    health: &watch::Receiver<Health>,
    applier: &Applier<F>,
    stopped: &watch::Receiver<bool>,
) where
    F: Fn(&[Applied]) + Send + Sync + 'static,
{
    let mut offsets = Offsets::default();
    loop {
        let now = *health.borrow();
        if *stopped.borrow() || !now.is_up() || now.epoch != born.epoch {
            break;
        }
        // Never cancelled: the client counts what it hands out as consumed.
        let polled = poll(puller).await;
        if polled.next.is_empty() {
            offsets.save(puller).await;
            continue;
        }
        if parts().finishes_first(QueuePath::RocketMq) {
            offsets.commit(puller, &polled.next).await;
            offsets.save(puller).await;
        }
        let parked = applier.park_unreadable(&polled.unreadable).await;
        if !parked || !applier.apply(parts().polled(polled.orders)).await {
            break; // Stopped before MySQL took everything: nothing of this poll is committed.
        }
        reach(Point::AfterApply);
        offsets.commit(puller, &polled.next).await;
    }
    offsets.save(puller).await;
}

/// What is there, up to [`ORDERS_MAX`] and what the last messages carry beyond, waiting a little for the first.
async fn poll(puller: &DefaultLitePullConsumer) -> Polled {
    let mut polled = Polled::default();
    let mut wait_ms = POLL_WAIT_MS;
    while polled.orders.len() < ORDERS_MAX {
        let messages = puller.poll_with_timeout_zero_copy(wait_ms).await;
        if messages.is_empty() {
            break;
        }
        messages.iter().for_each(|message| polled.add(message));
        wait_ms = 0;
    }
    polled
}
