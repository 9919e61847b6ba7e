//! Puts the parts together, runs them, and ends them in order.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use metrics_exporter_prometheus::PrometheusHandle;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::gateway::{App, router, server};
use crate::operations::metrics::{self, Metrics};
use crate::operations::sales::SaleDesk;
use crate::queue::{OrderQueue, QueueSettings};
use crate::reconcile::keeper::Keeper;
use crate::reconcile::rebuild::{RebuildStep, Rebuilder};
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
use crate::stock::round::ReserveStep;
use crate::stock::scripts::Scripts;
use crate::stock::supervisor::Supervisor;
use crate::stock::topology::Scout;
use crate::store::{Store, StoreError};

/// The service did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("the runtime could not be built: {0}")]
    Runtime(std::io::Error),
    #[error("the metrics recorder could not be installed: {0}")]
    Metrics(#[from] metrics_exporter_prometheus::BuildError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Queue(#[from] QueueError),
    #[error("cannot listen on {address}: {source}; choose another --listen")]
    Listen { address: std::net::SocketAddr, source: std::io::Error },
}

/// The parts that a mutants build can replace; a normal build has one of each.
#[derive(Debug, Clone, Copy, Default)]
pub struct Parts {
    pub reserve: ReserveStep,
    pub rebuild: RebuildStep,
}

/// Runs until SIGINT or SIGTERM.
///
/// # Errors
/// Something it needs is missing at the start.
pub fn run(settings: Settings) -> Result<(), StartError> {
    crate::operations::log::install();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(StartError::Runtime)?;
    let done = runtime.block_on(serve(settings, shutdown_signal()));
    // The queue's client leaves threads behind that nobody waits for.
    runtime.shutdown_timeout(Duration::from_secs(2));
    done
}

/// Runs until `shutdown` resolves.
///
/// # Errors
/// Something it needs is missing at the start.
pub async fn serve(settings: Settings, shutdown: impl Future<Output = ()>) -> Result<(), StartError> {
    let prometheus = metrics::install()?;
    let foundation = Foundation::lay(&settings).await?;
    let mut tasks = foundation.tasks;
    let listener = TcpListener::bind(settings.listen)
        .await
        .map_err(|source| StartError::Listen { address: settings.listen, source })?;
    tracing::info!(address = %settings.listen, "listening");
    todo!()
}
