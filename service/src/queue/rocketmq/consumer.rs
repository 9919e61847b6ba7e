//! Batch consumption: pull, apply to MySQL in parallel by SKU, and only then commit the offsets (MQ-5, MQ-11).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use rocketmq_client_rust::DefaultLitePullConsumer;
use rocketmq_model::common::consumer::consume_from_where::ConsumeFromWhere;
use rocketmq_model::common::message::message_ext::MessageExt;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};

use super::QueueError;
use super::client::{self, Host};
use super::offsets::{self, Offsets};
use super::watch::{BrokerWatch, Health};
use crate::queue::QueueSettings;
use crate::sale::order::OrderMessage;
use crate::store::{Applied, BATCH_MAX, Store, check_storable};

/// Messages of one pull from one queue.
const PULL_BATCH: i32 = 256;
/// Messages taken from the client's buffer at once, and so uncommitted at most.
const POLL_MAX: usize = 1_000;
/// Waiting for the first message; bounds how late a stop or an outage is noticed.
const POLL_WAIT_MS: u64 = 200;
/// Batches applied at the same time; one SKU is never in two of them.
const LANES: usize = 4;
/// Below this many messages another lane is not worth its transaction.
const LANE_FILL: usize = 25;
/// Pause before a batch that MySQL did not take is offered again.
const APPLY_PAUSE: Duration = Duration::from_millis(500);
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
            on_applied: Arc::new(on_applied),
            stopped: stopped.clone(),
        };
        let task = tokio::spawn(run(Arc::clone(&shared), applier, stopped));
        Ok(Self { shared, stop, task })
    }

    /// Messages that the group has not applied; an error while the broker cannot be asked.
    pub async fn lag(&self) -> Result<u64, QueueError> {
        let client = self.shared.client.load_full();
        let client = client.ok_or(QueueError::Disconnected)?;
        offsets::lag(&client.puller, &self.shared.settings.topic).await
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
    let host = Host::new("rocketmq-consumer")?;
    let puller = DefaultLitePullConsumer::builder(host.runtime())
        .client_options(client::config(&settings.namesrv).into())
        .consumer_group(settings.group.as_str())
        .consume_from_where(ConsumeFromWhere::ConsumeFromFirstOffset)
        .auto_commit(false)
        .pull_batch_size(PULL_BATCH)
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
        let messages = poll(puller).await;
        if messages.is_empty() {
            offsets.save(puller).await;
            continue;
        }
        let next = offsets::after(messages.iter().map(AsRef::as_ref));
        if !applier.apply(decode(&messages)).await {
            break; // Stopped before MySQL took everything: nothing of this poll is committed.
        }
        offsets.commit(puller, &next).await;
    }
    offsets.save(puller).await;
}

/// The messages that are there, up to [`POLL_MAX`], waiting a little for the first.
async fn poll(puller: &DefaultLitePullConsumer) -> Vec<Arc<MessageExt>> {
    let mut messages = puller.poll_with_timeout_zero_copy(POLL_WAIT_MS).await;
    while !messages.is_empty() && messages.len() < POLL_MAX {
        let more = puller.poll_with_timeout_zero_copy(0).await;
        if more.is_empty() {
            break;
        }
        messages.extend(more);
    }
    messages
}

/// The orders in the messages. A body that is no order, or fits no row, cannot come from our gateway; it is
/// logged in full and passed over, because no retry would help.
fn decode(messages: &[Arc<MessageExt>]) -> Vec<OrderMessage> {
    messages
        .iter()
        .filter_map(|message| {
            let body = message.body().unwrap_or_default();
            let order = serde_json::from_slice(&body).map_err(|error| error.to_string());
            match order.and_then(|order| check_storable(&order).map(|()| order).map_err(str::to_owned)) {
                Ok(order) => Some(order),
                Err(error) => {
                    let body = String::from_utf8_lossy(&body);
                    tracing::error!(id = %message.msg_id(), error, %body, "message is not an order");
                    None
                }
            }
        })
        .collect()
}

/// Applies orders until MySQL has taken them.
struct Applier<F> {
    store: Store,
    on_applied: Arc<F>,
    stopped: watch::Receiver<bool>,
}

impl<F> Applier<F>
where
    F: Fn(&[Applied]) + Send + Sync + 'static,
{
    /// True when everything is applied, false if stopped before.
    async fn apply(&self, orders: Vec<OrderMessage>) -> bool {
        let mut lanes = JoinSet::new();
        for orders in by_lane(orders) {
            let store = self.store.clone();
            let on_applied = Arc::clone(&self.on_applied);
            let stopped = self.stopped.clone();
            lanes.spawn(async move {
                for batch in orders.chunks(BATCH_MAX) {
                    if !apply_batch(&store, batch, on_applied.as_ref(), &stopped).await {
                        return false;
                    }
                }
                true
            });
        }
        let mut all = true;
        while let Some(lane) = lanes.join_next().await {
            all &= lane.unwrap_or(false);
        }
        all
    }
}

/// Offers one batch until it is taken: a message that the queue has promised is never dropped.
async fn apply_batch<F>(
    store: &Store,
    batch: &[OrderMessage],
    on_applied: &F,
    stopped: &watch::Receiver<bool>,
) -> bool
where
    F: Fn(&[Applied]) + Send + Sync,
{
    loop {
        match store.apply(batch).await {
            Ok(applied) => {
                on_applied(&applied);
                return true;
            }
            Err(error) if error.is_transient() => {
                tracing::warn!(%error, "batch is offered to MySQL again");
            }
            Err(error) => tracing::error!(%error, "batch is refused by MySQL and offered again"),
        }
        if *stopped.borrow() {
            return false;
        }
        sleep(APPLY_PAUSE).await;
    }
}

/// Distributes orders over lanes, all orders of a SKU on one lane and in their order: the hot row is never
/// fought for, and small SKUs share a transaction.
fn by_lane(orders: Vec<OrderMessage>) -> Vec<Vec<OrderMessage>> {
    let lanes = orders.len().div_ceil(LANE_FILL).clamp(1, LANES);
    let mut by_sku: BTreeMap<(String, String), Vec<OrderMessage>> = BTreeMap::new();
    for order in orders {
        by_sku
            .entry((order.sale.clone(), order.sku.clone()))
            .or_default()
            .push(order);
    }
    let mut skus: Vec<Vec<OrderMessage>> = by_sku.into_values().collect();
    skus.sort_by_key(|orders| std::cmp::Reverse(orders.len()));
    let mut filled: Vec<Vec<OrderMessage>> = vec![Vec::new(); lanes];
    for orders in skus {
        if let Some(emptiest) = filled.iter_mut().min_by_key(|lane| lane.len()) {
            emptiest.extend(orders);
        }
    }
    filled.retain(|lane| !lane.is_empty());
    filled
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    fn orders(sizes: &[(&str, usize)]) -> Vec<OrderMessage> {
        let mut orders = Vec::new();
        for (sku, size) in sizes {
            for n in 0..*size {
                orders.push(OrderMessage {
                    order_id: format!("{sku}-{n}"),
                    sale: "sale".to_owned(),
                    sku: (*sku).to_owned(),
                    user: "user".to_owned(),
                    quantity: 1,
                    request_id: "request".to_owned(),
                    at_ms: n as u64,
                });
            }
        }
        orders
    }

    #[test]
    fn lanes_share_skus_out_and_never_split_one() {
        let table: [(&[(&str, usize)], usize); 5] = [
            (&[], 0),
            (&[("a", 1)], 1),
            (&[("a", 500)], 1),
            (&[("a", 10), ("b", 10)], 1),
            (&[("a", 100), ("b", 60), ("c", 50), ("d", 40), ("e", 30)], 4),
        ];
        for (sizes, expected) in table {
            let all = orders(sizes);
            let lanes = by_lane(all.clone());
            assert_eq!(lanes.len(), expected, "{sizes:?}");
            let mut lane_of: HashMap<&str, usize> = HashMap::new();
            for (number, lane) in lanes.iter().enumerate() {
                for order in lane {
                    let lane = lane_of.entry(&order.sku).or_insert(number);
                    assert_eq!(*lane, number, "{} is on two lanes", order.sku);
                }
            }
            let seen: HashSet<&str> = lanes
                .iter()
                .flatten()
                .map(|order| order.order_id.as_str())
                .collect();
            assert_eq!(seen.len(), all.len(), "nothing lost, nothing doubled");
        }
    }
}
