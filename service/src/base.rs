//! The parts that everything else stands on, and how they are put together around a queue.

mod tasks;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use metrics_exporter_prometheus::PrometheusHandle;
use tokio::runtime::Handle;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::gateway::App;
use crate::operations::alerts::Alerts;
use crate::operations::dead_letters::LetterDesk;
use crate::operations::metrics::Metrics;
use crate::operations::sale_desk::SaleDesk;
use crate::queue::outbox::{OutboxQueue, Writer};
use crate::queue::stream::StreamQueue;
use crate::queue::{OrderQueue, Queues, Way};
use crate::reconcile::applied::AppliedNews;
use crate::reconcile::lately::LatelyStored;
use crate::reconcile::releases::Releases;
use crate::sale::buy::Shop;
use crate::sale::catalogue::Catalogue;
use crate::sale::clock;
use crate::sale::desk::Desk;
use crate::sale::promises::Promises;
use crate::sale::settler::Settler;
use crate::sale::transaction::ReserveTransaction;
use crate::sale::waiting_room::WaitingRoom;
use crate::settings::{Role, Settings};
use crate::stock::Stock;
use crate::stock::lane::LaneParts;
use crate::stock::scripts::Scripts;
use crate::stock::supervisor::Supervisor;
use crate::stock::topology::Scout;
use crate::store::{Applied, Store, StoreError};

/// Stores, memory, counters. Everything in it is shared.
pub struct Base {
    pub store: Store,
    pub stock: Stock,
    metrics: Metrics,
    alerts: Alerts,
    catalogue: Arc<Catalogue>,
    promises: Arc<Promises>,
    /// What the consumer and the outbox's writer tell after each batch.
    pub news: AppliedNews,
    /// Of the outbox.
    lately: Arc<LatelyStored>,
    releases: Releases,
    writer: Writer,
    /// Tells the writer to end.
    stop: watch::Sender<bool>,
    role: Role,
    /// Name among the nodes, unique to this process.
    pub node: String,
}

impl Base {
    /// Connects to MySQL and looks for the Redis Cluster; Redis may come later.
    ///
    /// # Errors
    /// MySQL does not answer.
    pub async fn lay(settings: &Settings, tasks: &mut JoinSet<()>) -> Result<Self, StoreError> {
        let metrics = Metrics::register();
        let alerts = Alerts::start(
            &settings.listen.to_string(),
            settings.alert_url.clone(),
            tasks,
        );
        let store = open_store(settings).await?;
        let lanes = LaneParts {
            scripts: Scripts::default(),
            metrics: metrics.clone(),
            alerts: alerts.clone(),
            replica_ack: Duration::from_millis(settings.replica_ack_ms),
            unreplicated: settings.unreplicated,
            hold: settings.hold(),
            closed: Notify::new(),
        };
        let scout = Scout::new(
            settings.redis_seeds.clone(),
            settings.redis_address_map.clone(),
        );
        let (mut supervisor, stock) = Supervisor::new(scout, lanes);
        supervisor.look().await;
        tasks.spawn(supervisor.run());
        let catalogue = Arc::<Catalogue>::default();
        let releases = Releases {
            catalogue: Arc::clone(&catalogue),
            stock: stock.clone(),
            store: store.clone(),
            due: Arc::new(Notify::new()),
        };
        let promises = Arc::<Promises>::default();
        let news = AppliedNews {
            catalogue: Arc::clone(&catalogue),
            promises: Arc::clone(&promises),
            releases: releases.clone(),
            metrics: metrics.clone(),
            alerts: alerts.clone(),
        };
        let (stop, stopped) = watch::channel(false);
        let lately = Arc::<LatelyStored>::default();
        let (told, noted) = (news.clone(), Arc::clone(&lately));
        let on_written = move |written: &[Applied]| {
            let ids = written.iter().map(|one| one.order_id.as_str());
            noted.note(ids, Instant::now());
            told.tell(written);
        };
        let writer = Writer::start(store.clone(), settings.batch_max(), on_written, stopped);
        Ok(Self {
            store,
            stock,
            metrics,
            alerts,
            catalogue,
            promises,
            news,
            lately,
            releases,
            writer,
            stop,
            role: settings.role,
            node: node_name(settings),
        })
    }

    /// The local half of a queue's transactions.
    #[must_use]
    pub fn transaction(&self) -> ReserveTransaction {
        ReserveTransaction {
            catalogue: Arc::clone(&self.catalogue),
            stock: self.stock.clone(),
            store: self.store.clone(),
            promises: Arc::clone(&self.promises),
            metrics: self.metrics.clone(),
            settler: Settler {
                stock: self.stock.clone(),
                store: self.store.clone(),
                promises: Arc::clone(&self.promises),
                metrics: self.metrics.clone(),
                writer: self.writer.clone(),
            },
        }
    }

    /// Every way from a reservation to an order.
    #[must_use]
    pub fn queues(&self, rocketmq: Arc<dyn OrderQueue>) -> Queues {
        let outbox = OutboxQueue {
            transaction: self.transaction(),
            writer: self.writer.clone(),
        };
        let stream = StreamQueue {
            transaction: self.transaction(),
            news: self.news.clone(),
        };
        Queues {
            rocketmq: Way::new(rocketmq),
            outbox: Way::new(Arc::new(outbox)),
            stream: Way::new(Arc::new(stream)),
        }
    }

    /// Ends the node's own writing to MySQL after the batch in hand.
    pub fn stop_writing(&self) {
        // Fails only if the writer has ended.
        let _ = self.stop.send(true);
    }

    fn letters(&self) -> LetterDesk {
        LetterDesk {
            store: self.store.clone(),
            news: self.news.clone(),
        }
    }

    fn app(&self, settings: &Settings, queues: Queues, prometheus: PrometheusHandle) -> App {
        let room = WaitingRoom::new(settings.waiting_max);
        let desk_room = WaitingRoom::new(settings.desk_max);
        let work = Handle::current();
        App {
            is_gateway: self.role.is_gateway(),
            shop: Shop {
                work: work.clone(),
                catalogue: Arc::clone(&self.catalogue),
                stock: self.stock.clone(),
                room: Arc::new(room),
                queues: queues.clone(),
            },
            desk: Desk {
                catalogue: Arc::clone(&self.catalogue),
                stock: self.stock.clone(),
                store: self.store.clone(),
                promises: Arc::clone(&self.promises),
                releases: self.releases.clone(),
                room: Arc::new(desk_room),
            },
            letters: self.letters(),
            sales: SaleDesk {
                store: self.store.clone(),
                stock: self.stock.clone(),
                catalogue: Arc::clone(&self.catalogue),
                queue: settings.queue,
            },
            stock: self.stock.clone(),
            store: self.store.clone(),
            queues,
            metrics: self.metrics.clone(),
            prometheus,
            ops_token: settings.ops_token.clone(),
            work,
        }
    }
}

async fn open_store(settings: &Settings) -> Result<Store, StoreError> {
    let store = Store::open(
        &settings.mysql_url,
        settings.mysql_owner_url(),
        settings.stock_tables(),
    )
    .await?;
    match settings.mysql_replica_url() {
        Some(url) => store.with_replica(url),
        None => Ok(store),
    }
}

/// 32 hexadecimal digits that no other process has: its address, its id and the time.
fn node_name(settings: &Settings) -> String {
    static STARTS: AtomicU32 = AtomicU32::new(0);
    let name = format!(
        "{} {} {} {}",
        settings.listen,
        std::process::id(),
        STARTS.fetch_add(1, Ordering::Relaxed),
        clock::now_ms()
    );
    Uuid::new_v5(&Uuid::NAMESPACE_URL, name.as_bytes())
        .simple()
        .to_string()
}
