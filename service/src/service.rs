//! Puts the parts together, runs them, and ends them in order.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use metrics_exporter_prometheus::{BuildError, PrometheusHandle};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::gateway::{App, router, server};
use crate::operations::log;
use crate::operations::metrics::{self, Metrics};
use crate::operations::sales::SaleDesk;
use crate::parts::Parts;
use crate::queue::rocketmq::{Consumer, Producer, QueueError};
use crate::queue::{OrderQueue, QueueSettings, RocketMqQueue};
use crate::reconcile::applied::AppliedNews;
use crate::reconcile::keeper::Keeper;
use crate::reconcile::rebuild::Rebuilder;
use crate::reconcile::releases::Releases;
use crate::reconcile::sweep::Sweep;
use crate::sale::buy::Shop;
use crate::sale::catalogue::Catalogue;
use crate::sale::desk::Desk;
use crate::sale::promises::Promises;
use crate::sale::settler::Settler;
use crate::sale::transaction::ReserveTransaction;
use crate::sale::waiting_room::WaitingRoom;
use crate::settings::Settings;
use crate::stock::Stock;
use crate::stock::lane::LaneParts;
use crate::stock::scripts::Scripts;
use crate::stock::supervisor::Supervisor;
use crate::stock::topology::Scout;
use crate::store::{Store, StoreError};

/// Threads that are left over at the end get this long.
const LEFTOVER_GRACE: Duration = Duration::from_secs(2);

/// The service did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("the runtime could not be built: {0}")]
    Runtime(std::io::Error),
    #[error("signals cannot be waited for: {0}")]
    Signals(std::io::Error),
    #[error("the metrics recorder could not be installed: {0}")]
    Metrics(#[from] BuildError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Queue(#[from] QueueError),
    #[error("cannot listen on {address}: {source}; choose another --listen")]
    Listen {
        address: std::net::SocketAddr,
        source: std::io::Error,
    },
}

/// Runs until SIGINT or SIGTERM.
///
/// # Errors
/// Something it needs is missing at the start.
pub fn run(settings: &Settings) -> Result<(), StartError> {
    log::install();
    let prometheus = metrics::install()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(StartError::Runtime)?;
    let done = runtime.block_on(async {
        let shutdown = shutdown_signal()?;
        serve(settings, prometheus, shutdown).await
    });
    // The queue's client leaves threads behind that nobody waits for.
    runtime.shutdown_timeout(LEFTOVER_GRACE);
    done
}

/// Runs until `shutdown` resolves.
///
/// # Errors
/// Something it needs is missing at the start.
pub async fn serve(
    settings: &Settings,
    prometheus: PrometheusHandle,
    shutdown: impl Future<Output = ()>,
) -> Result<(), StartError> {
    let listener =
        TcpListener::bind(settings.listen)
            .await
            .map_err(|source| StartError::Listen {
                address: settings.listen,
                source,
            })?;
    let parts = Parts::of(settings);
    let mut tasks = JoinSet::new();
    let base = Base::lay(settings, parts, &mut tasks).await?;
    let rocketmq = base.connect_queue(settings, parts).await?;
    let queue: Arc<dyn OrderQueue> = Arc::clone(&rocketmq) as _;

    let rebuilder = base.rebuilder(settings, Arc::clone(&queue));
    let sales = SaleDesk {
        catalogue: Arc::clone(&base.catalogue),
        store: base.store.clone(),
        rebuilder: rebuilder.clone(),
    };
    sales.load().await?;
    tasks.spawn(
        Keeper {
            catalogue: Arc::clone(&base.catalogue),
            rebuilder,
            step: parts.rebuild,
        }
        .run(),
    );
    tasks.spawn(base.releases.clone().run());
    tasks.spawn(base.sweep().run());

    let app = base.app(settings, sales, queue, prometheus);
    tracing::info!(address = %settings.listen, "listening");
    server::serve(listener, router::router(Arc::new(app)), shutdown).await;

    tracing::info!("ending");
    tasks.shutdown().await;
    match Arc::into_inner(rocketmq) {
        Some(rocketmq) => rocketmq.stop().await,
        None => tracing::warn!("a connection still uses the queue; its client is cut off"),
    }
    base.store.close().await;
    Ok(())
}

/// What everything else stands on.
struct Base {
    metrics: Metrics,
    store: Store,
    stock: Stock,
    catalogue: Arc<Catalogue>,
    promises: Arc<Promises>,
    releases: Releases,
}

impl Base {
    /// Connects to MySQL and looks for the Redis Cluster; Redis may come later.
    async fn lay(
        settings: &Settings,
        parts: Parts,
        tasks: &mut JoinSet<()>,
    ) -> Result<Self, StartError> {
        let metrics = Metrics::register();
        let store = parts.store(Store::connect(&settings.mysql_url).await?);
        store.migrate().await?;
        let lanes = LaneParts {
            scripts: Scripts::default(),
            metrics: metrics.clone(),
            replica_ack: Duration::from_millis(settings.replica_ack_ms),
            unreplicated: settings.unreplicated,
            hold: settings.hold(),
            reserve_step: parts.reserve,
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
        Ok(Self {
            metrics,
            store,
            stock,
            catalogue,
            promises: Arc::default(),
            releases,
        })
    }

    async fn connect_queue(
        &self,
        settings: &Settings,
        parts: Parts,
    ) -> Result<Arc<RocketMqQueue>, StartError> {
        let queue = QueueSettings {
            namesrv: settings.rocketmq_namesrv.clone(),
            topic: settings.topic.clone(),
            group: settings.group.clone(),
            transactions_in_flight: settings.transactions_in_flight.get(),
        };
        let transaction = ReserveTransaction {
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
            },
        };
        let producer: Producer = parts.producer(&queue, transaction).await?;
        let news = AppliedNews {
            catalogue: Arc::clone(&self.catalogue),
            promises: Arc::clone(&self.promises),
            releases: self.releases.clone(),
            metrics: self.metrics.clone(),
        };
        let consumer = Consumer::start(&queue, self.store.clone(), move |applied| {
            news.tell(applied);
        })
        .await?;
        Ok(Arc::new(RocketMqQueue { producer, consumer }))
    }

    fn rebuilder(&self, settings: &Settings, queue: Arc<dyn OrderQueue>) -> Rebuilder {
        Rebuilder {
            stock: self.stock.clone(),
            store: self.store.clone(),
            promises: Arc::clone(&self.promises),
            queue,
            metrics: self.metrics.clone(),
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

    fn app(
        &self,
        settings: &Settings,
        sales: SaleDesk,
        queue: Arc<dyn OrderQueue>,
        prometheus: PrometheusHandle,
    ) -> App {
        App {
            shop: Shop {
                catalogue: Arc::clone(&self.catalogue),
                stock: self.stock.clone(),
                room: Arc::new(WaitingRoom::new(
                    settings.waiting_max,
                    settings.transactions_in_flight,
                )),
                queue: Arc::clone(&queue),
            },
            desk: Desk {
                store: self.store.clone(),
                promises: Arc::clone(&self.promises),
                releases: self.releases.clone(),
            },
            sales,
            stock: self.stock.clone(),
            store: self.store.clone(),
            queue,
            metrics: self.metrics.clone(),
            prometheus,
            ops_token: settings.ops_token.clone(),
        }
    }
}

/// Resolves at the first SIGINT or SIGTERM.
fn shutdown_signal() -> Result<impl Future<Output = ()>, StartError> {
    let mut interrupt = signal(SignalKind::interrupt()).map_err(StartError::Signals)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(StartError::Signals)?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}
