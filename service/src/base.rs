//! The parts that everything else stands on, and how they are put together around a queue.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

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
use crate::queue::applier::Applier;
use crate::queue::outages::tell_outages;
use crate::queue::outbox::{OutboxQueue, Relay, Writer};
use crate::queue::rocketmq::Publisher;
use crate::queue::stream::{StreamConsumer, StreamQueue};
use crate::queue::{OrderQueue, Queues, Way};
use crate::reconcile::applied::AppliedNews;
use crate::reconcile::check_back::CheckedBack;
use crate::reconcile::follower::Follower;
use crate::reconcile::keeper::Keeper;
use crate::reconcile::quiet::Quieter;
use crate::reconcile::rebuild::Rebuilder;
use crate::reconcile::releases::Releases;
use crate::reconcile::sweep::Sweep;
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
use crate::store::{Applied, Entry, Store, StoreError};

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
        let store = Store::connect(&settings.mysql_url).await?;
        store.migrate().await?;
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
        let told = news.clone();
        let on_written = move |written: &[_]| told.tell(written);
        let writer = Writer::start(store.clone(), settings.batch_max(), on_written, stopped);
        Ok(Self {
            store,
            stock,
            metrics,
            alerts,
            catalogue,
            promises,
            news,
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

    /// Learns the sales from MySQL and starts the tasks of this node's role; returns what the gateway needs.
    ///
    /// # Errors
    /// MySQL does not answer.
    pub async fn start(
        &self,
        settings: &Settings,
        queues: Queues,
        publisher: Option<Publisher>,
        prometheus: PrometheusHandle,
        tasks: &mut JoinSet<()>,
    ) -> Result<App, StoreError> {
        let mut follower = self.follower(queues.clone());
        follower.read().await?;
        tasks.spawn(follower.run());
        let connected = (queues.clone(), Arc::clone(&self.catalogue));
        let is_connected = move || connected.0.are_connected(&connected.1);
        tasks.spawn(tell_outages(is_connected, self.alerts.clone()));
        if self.role.is_keeper() {
            let keeper = Keeper {
                node: self.node.clone(),
                catalogue: Arc::clone(&self.catalogue),
                rebuilder: self.rebuilder(settings, queues.clone()),
                checked_back: CheckedBack::default(),
            };
            tasks.spawn(keeper.run());
            tasks.spawn(self.releases.clone().run());
            let interval = Duration::from_secs(settings.dead_letter_retry_s);
            tasks.spawn(self.letters().run(interval));
        }
        tasks.spawn(self.sweep().run());
        if self.role.is_consumer() {
            tasks.spawn(self.stream_consumer(settings).run());
        }
        if let Some(publisher) = publisher {
            tasks.spawn(self.relay(settings, publisher).run());
        }
        if self.role.is_gateway() {
            for Way { queue, congestion } in queues.all().map(Way::clone) {
                tasks.spawn(congestion.watch(queue, settings.backlog_max));
            }
        }
        Ok(self.app(settings, queues, prometheus))
    }

    fn stream_consumer(
        &self,
        settings: &Settings,
    ) -> StreamConsumer<impl Fn(&[Applied]) + Send + Sync + 'static> {
        let news = self.news.clone();
        StreamConsumer {
            name: self.node.clone(),
            catalogue: Arc::clone(&self.catalogue),
            stock: self.stock.clone(),
            applier: Applier {
                store: self.store.clone(),
                entry: Entry::Delivered,
                batch_max: settings.batch_max(),
                age_max: settings.message_age_max(),
                on_applied: Arc::new(move |applied: &[Applied]| news.tell(applied)),
                is_stuck: Arc::default(),
                stopped: self.stop.subscribe(),
            },
        }
    }

    fn relay(&self, settings: &Settings, publisher: Publisher) -> Relay {
        Relay {
            store: self.store.clone(),
            publisher,
            metrics: self.metrics.clone(),
            alerts: self.alerts.clone(),
            poll: Duration::from_millis(settings.relay_poll_ms),
        }
    }

    fn letters(&self) -> LetterDesk {
        LetterDesk {
            store: self.store.clone(),
            news: self.news.clone(),
        }
    }

    fn follower(&self, queues: Queues) -> Follower {
        Follower {
            node: self.node.clone(),
            is_gateway: self.role.is_gateway(),
            catalogue: Arc::clone(&self.catalogue),
            stock: self.stock.clone(),
            store: self.store.clone(),
            alerts: self.alerts.clone(),
            quieter: Quieter {
                node: self.node.clone(),
                promises: Arc::clone(&self.promises),
                store: self.store.clone(),
                queues,
                metrics: self.metrics.clone(),
                alerts: self.alerts.clone(),
                waits: HashMap::new(),
            },
        }
    }

    fn rebuilder(&self, settings: &Settings, queues: Queues) -> Rebuilder {
        Rebuilder {
            stock: self.stock.clone(),
            store: self.store.clone(),
            queues,
            metrics: self.metrics.clone(),
            alerts: self.alerts.clone(),
            hold: settings.hold(),
        }
    }

    fn sweep(&self) -> Sweep {
        Sweep {
            catalogue: Arc::clone(&self.catalogue),
            promises: Arc::clone(&self.promises),
            stock: self.stock.clone(),
            store: self.store.clone(),
        }
    }

    fn app(&self, settings: &Settings, queues: Queues, prometheus: PrometheusHandle) -> App {
        let room = WaitingRoom::new(settings.waiting_max, settings.transactions_in_flight);
        let desk_room = WaitingRoom::new(settings.desk_max, settings.desk_max);
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
