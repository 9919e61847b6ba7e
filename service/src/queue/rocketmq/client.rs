//! The client library's runtime, one per client, and the client's settings.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rocketmq_client_rust::{ClientConfig, ClientRuntime, ClientRuntimeConfig, TelemetryHandle};
use rocketmq_runtime::{RuntimeConfig, RuntimeOwner, ShutdownDeadline};

use super::QueueError;
use super::producer::MESSAGES_IN_FLIGHT;

/// Threads that move bytes; the work is done elsewhere.
const WORKER_THREADS: usize = 2;
/// Check-backs answered at once.
pub(super) const CHECK_BACKS_AT_ONCE: u32 = 32;
/// Threads for listeners: one for each message in flight and each check-back, and one more for each, as granted orders may
/// move to another message meanwhile. What finds no thread is dropped ("runtime capacity is exhausted") and left to
/// check-back.
const LISTENER_THREADS: usize = 2 * (MESSAGES_IN_FLIGHT + CHECK_BACKS_AT_ONCE as usize);
const LISTENER_QUEUE: usize = 4_096;
/// A listener may wait for Redis; longer than any time-out there.
const LISTENER_TIMEOUT: Duration = Duration::from_secs(30);
/// Heartbeats tell the broker where to send check-backs; after a cut connection that must not take 30 s. The
/// library accepts no less than 10 s.
const HEARTBEAT_EVERY: Duration = Duration::from_secs(10);
const ROUTE_REFRESH_EVERY: Duration = Duration::from_secs(10);

/// Until a client's tasks are cut off instead of awaited.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

static CLIENTS: AtomicU64 = AtomicU64::new(0);

/// The library's runtime for one client.
///
/// Each client has its own, because ending the runtime is the one way to be rid of a client quickly: its own
/// shutdown waits for long polls that a dead broker never answers, and stays a member of the consumer group
/// meanwhile. Dropping the runtime closes the connections, which the broker takes for the client's end.
pub(super) struct Host {
    runtime: Arc<ClientRuntime>,
    /// Dropped last; ends all tasks without waiting.
    _owner: RuntimeOwner,
}

impl Host {
    pub fn new(name: &'static str) -> Result<Self, QueueError> {
        let wrap = |detail| QueueError::Runtime { detail };
        let owner = RuntimeOwner::plan(configuration(name))
            .map_err(|error| wrap(format!("{error:?}")))?
            .build()
            .map_err(|error| wrap(error.to_string()))?;
        let runtime = ClientRuntime::try_new(
            owner.root_context().component(name),
            ClientRuntimeConfig::default(),
            TelemetryHandle::noop(),
        )
        .map_err(|error| wrap(error.to_string()))?;
        Ok(Self {
            runtime,
            _owner: owner,
        })
    }

    pub fn runtime(&self) -> Arc<ClientRuntime> {
        Arc::clone(&self.runtime)
    }

    /// Ends the client's tasks, for a second in good order and then by force.
    pub async fn close(&self) {
        let deadline = ShutdownDeadline::after(CLOSE_TIMEOUT);
        let report = self.runtime.shutdown_until(deadline).await;
        if !report.is_healthy() {
            tracing::debug!(report = %report.to_json(), "client tasks were cut off");
        }
    }
}

fn configuration(name: &str) -> RuntimeConfig {
    let mut config = RuntimeConfig {
        worker_threads: WORKER_THREADS,
        thread_name: name.to_owned(),
        max_blocking_threads: LISTENER_THREADS + 32,
        ..RuntimeConfig::default()
    };
    // Listeners run on this lane.
    let lane = &mut config.blocking_lane_policies.metadata_io;
    lane.max_concurrency = LISTENER_THREADS;
    lane.max_queue_depth = LISTENER_QUEUE;
    lane.queue_timeout = LISTENER_TIMEOUT;
    lane.task_timeout = LISTENER_TIMEOUT;
    config
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
