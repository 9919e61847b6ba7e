//! The client library's runtime, one for the process, and the settings of the clients in it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rocketmq_client_rust::{ClientConfig, ClientRuntime, ClientRuntimeConfig, TelemetryHandle};
use rocketmq_runtime::{RuntimeConfig, RuntimeOwner};

use super::QueueError;

/// Threads for listeners: one per transaction in flight, and some for check-backs. With the library's defaults
/// 19 % of the transactions were dropped ("runtime capacity is exhausted") and left to check-back.
const LISTENER_THREADS: usize = 224;
/// Check-backs answered at once.
pub(super) const CHECK_BACKS_AT_ONCE: u32 = 32;
/// Transactions in flight at most; the rest of the threads answers check-backs.
pub(super) const IN_FLIGHT_MAX: usize = LISTENER_THREADS - CHECK_BACKS_AT_ONCE as usize;
const LISTENER_QUEUE: usize = 4_096;
/// A listener may wait for Redis; longer than any time-out there.
const LISTENER_TIMEOUT: Duration = Duration::from_secs(30);
/// Heartbeats tell the broker where to send check-backs; after a cut connection that must not take 30 s. The
/// library accepts no less than 10 s.
const HEARTBEAT_EVERY: Duration = Duration::from_secs(10);
const ROUTE_REFRESH_EVERY: Duration = Duration::from_secs(10);

struct Host {
    runtime: Arc<ClientRuntime>,
    /// Kept for the life of the process: a Tokio runtime must not be dropped inside another one.
    _owner: RuntimeOwner,
}

static HOST: OnceLock<Result<Host, String>> = OnceLock::new();
static CLIENTS: AtomicU64 = AtomicU64::new(0);

/// The process's client runtime.
pub(super) fn runtime() -> Result<Arc<ClientRuntime>, QueueError> {
    match HOST.get_or_init(build) {
        Ok(host) => Ok(Arc::clone(&host.runtime)),
        Err(detail) => Err(QueueError::Runtime {
            detail: detail.clone(),
        }),
    }
}

fn build() -> Result<Host, String> {
    let mut config = RuntimeConfig {
        thread_name: "rocketmq".to_owned(),
        max_blocking_threads: LISTENER_THREADS + 32,
        ..RuntimeConfig::default()
    };
    // Listeners run on this lane.
    let lane = &mut config.blocking_lane_policies.metadata_io;
    lane.max_concurrency = LISTENER_THREADS;
    lane.max_queue_depth = LISTENER_QUEUE;
    lane.queue_timeout = LISTENER_TIMEOUT;
    lane.task_timeout = LISTENER_TIMEOUT;
    let owner = RuntimeOwner::plan(config)
        .map_err(|error| format!("{error:?}"))?
        .build()
        .map_err(|error| error.to_string())?;
    let runtime = ClientRuntime::try_new(
        owner.root_context().component("flashsale"),
        ClientRuntimeConfig::default(),
        TelemetryHandle::noop(),
    )
    .map_err(|error| error.to_string())?;
    Ok(Host {
        runtime,
        _owner: owner,
    })
}

/// Settings of a new client, which shares nothing with earlier ones: connections and refusals are kept by
/// instance name.
pub(super) fn config(namesrv: &str) -> ClientConfig {
    let number = CLIENTS.fetch_add(1, Ordering::Relaxed);
    let mut config = ClientConfig::new();
    config.set_namesrv_addr(namesrv.into());
    config.set_instance_name(format!("flashsale-{}-{number}", std::process::id()).into());
    config.heartbeat_broker_interval = HEARTBEAT_EVERY.as_millis() as u32;
    config.poll_name_server_interval = ROUTE_REFRESH_EVERY.as_millis() as u32;
    config
}
