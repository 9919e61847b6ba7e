//! Starts a node of the service, and ends it in order.

use std::future::Future;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use metrics_exporter_prometheus::{BuildError, PrometheusHandle};
use tokio::net::TcpListener;
use tokio::runtime::{Handle, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;

use crate::base::Base;
use crate::gateway::server;
use crate::operations::{log, metrics};
use crate::queue::QueueSettings;
use crate::queue::rocketmq::{Consumer, Depth, Producer, Publisher, QueueError, RocketMqQueue};
use crate::settings::Settings;
use crate::store::StoreError;

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

/// The whole process: settings from flags and environment, errors in one line on stderr.
#[must_use]
pub fn main() -> ExitCode {
    match run(&Settings::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Each message names its cause; no backtrace, since whoever starts us shows the last lines.
            eprintln!("flashsale: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs until SIGINT or SIGTERM.
///
/// # Errors
/// Something it needs is missing at the start.
pub fn run(settings: &Settings) -> Result<(), StartError> {
    log::install();
    #[cfg(feature = "failpoints")]
    let _armed = crate::failpoints::from_environment();
    let prometheus = metrics::install()?;
    let (work, gateway) = (runtime("work", || ())?, runtime("gateway", go_first)?);
    let done = work.block_on(async {
        let shutdown = shutdown_signal()?;
        serve(settings, prometheus, gateway.handle(), shutdown).await
    });
    gateway.shutdown_background();
    // The queue's client leaves threads behind that nobody waits for.
    work.shutdown_timeout(LEFTOVER_GRACE);
    done
}

/// Sales run apart from the flood at the door: each step of an order would otherwise wait in line behind
/// thousands of refusals.
fn runtime(name: &str, on_start: fn()) -> Result<Runtime, StartError> {
    tokio::runtime::Builder::new_multi_thread()
        .thread_name(name)
        .on_thread_start(on_start)
        .enable_all()
        .build()
        .map_err(StartError::Runtime)
}

/// Niceness of the gateway's threads.
const GATEWAY_NICENESS: i32 = -20;

/// A refusal costs microseconds, an order milliseconds: where both want the processor, the short one goes first.
/// Without the right to, all are equal.
fn go_first() {
    if let Err(error) = rustix::process::setpriority_process(None, GATEWAY_NICENESS) {
        tracing::debug!(%error, "the gateway keeps its priority");
    }
}

/// Runs until `shutdown` resolves.
///
/// # Errors
/// Something it needs is missing at the start.
pub async fn serve(
    settings: &Settings,
    prometheus: PrometheusHandle,
    gateway: &Handle,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<(), StartError> {
    let address = settings.listen;
    // Bound and served on the same runtime: its connections wake nobody else.
    let bound = gateway.spawn(TcpListener::bind(address)).await;
    let listener = bound
        .unwrap_or_else(|error| Err(error.into()))
        .map_err(|source| StartError::Listen { address, source })?;
    #[cfg(feature = "mutants")]
    settings.mutant.into_iter().for_each(crate::mutants::choose);
    let mut tasks = JoinSet::new();
    let base = Base::lay(settings, &mut tasks).await?;
    let rocketmq = connect_queue(settings, &base).await?;
    let queues = base.queues(Arc::clone(&rocketmq) as _);
    let publisher = connect_publisher(settings).await?;
    let app = base
        .start(settings, queues, publisher, prometheus, &mut tasks)
        .await?;
    tracing::info!(address = %settings.listen, role = ?settings.role, node = base.node, "listening");
    let serving = gateway.spawn(server::serve(listener, Arc::new(app), shutdown));
    if let Err(error) = serving.await {
        tracing::error!(%error, "the gateway broke off");
    }
    tracing::info!("ending");
    tasks.shutdown().await;
    if let Err(error) = base.store.leave(&base.node).await {
        tracing::warn!(%error, "the other nodes wait until this one's time has run out");
    }
    match Arc::into_inner(rocketmq) {
        Some(rocketmq) => rocketmq.stop().await,
        None => tracing::warn!("a connection still uses the queue; its client is cut off"),
    }
    base.stop_writing();
    base.store.close().await;
    Ok(())
}

fn queue_settings(settings: &Settings) -> QueueSettings {
    QueueSettings {
        namesrv: settings.rocketmq_namesrv.clone(),
        topic: settings.topic.clone(),
        group: settings.group.clone(),
        orders_per_message_max: settings.orders_per_message_max(),
        batch_max: settings.batch_max(),
        age_max: settings.message_age_max(),
    }
}

/// Keepers send the outbox's announcements.
async fn connect_publisher(settings: &Settings) -> Result<Option<Publisher>, StartError> {
    Ok(match settings.role.is_keeper() {
        true => Some(Publisher::start(&queue_settings(settings)).await?),
        false => None,
    })
}

async fn connect_queue(settings: &Settings, base: &Base) -> Result<Arc<RocketMqQueue>, StartError> {
    let queue = queue_settings(settings);
    let mut rocketmq = RocketMqQueue {
        producer: None,
        consumer: None,
        depth: Depth::new(&queue),
    };
    if settings.role.is_gateway() {
        rocketmq.producer = Some(Producer::start(&queue, Arc::new(base.transaction())).await?);
    }
    if settings.role.is_consumer() {
        let news = base.news.clone();
        let on_applied = move |applied: &[_]| news.tell(applied);
        let consumer = Consumer::start(&queue, base.store.clone(), on_applied).await?;
        rocketmq.consumer = Some(consumer);
    }
    Ok(Arc::new(rocketmq))
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
