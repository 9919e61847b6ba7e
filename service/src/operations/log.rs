//! Log lines: JSON on standard error.

use tracing_subscriber::EnvFilter;

/// Filter where `RUST_LOG` says nothing. The RocketMQ client logs an error for each attempt during an
/// outage and each queue at shutdown; what matters of it is logged by this service.
const FILTER: &str = "info,rocketmq_client_rust=off,rocketmq_transport=off,rocketmq_runtime=off,\
    rocketmq_protocol=off,rocketmq_model=off,rocketmq_error=off,rocketmq_observability=off,sqlx=warn";

/// Installs the log. A second call changes nothing.
pub fn install() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(FILTER));
    let lines = tracing_subscriber::fmt()
        .json()
        .with_writer(std::io::stderr)
        .with_env_filter(filter);
    if lines.try_init().is_err() {
        tracing::debug!("a log is installed already");
    }
}
