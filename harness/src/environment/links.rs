//! The proxied links of the stack, by name, and the ports they listen on.

use std::net::SocketAddr;

use crate::proxy::client::{LinkRequest, ProxyClient};

use super::error::EnvironmentError;
use super::ports::free_port;

pub const ROCKETMQ_NAMESRV: &str = "rocketmq-namesrv";
pub const ROCKETMQ_BROKER: &str = "rocketmq-broker";
pub const MYSQL: &str = "mysql";
pub const MYSQL_REPLICA: &str = "mysql-replica";
/// The replica's way to the primary.
pub const MYSQL_REPLICATION: &str = "mysql-replication";

/// The service's way to Redis node `index`.
pub fn redis_service(index: usize) -> String {
    format!("redis-service-{index}")
}

/// The other nodes' way to Redis node `index`.
pub fn redis_replication(index: usize) -> String {
    format!("redis-replication-{index}")
}

/// The other nodes' way to the cluster bus of Redis node `index`.
pub fn redis_bus(index: usize) -> String {
    format!("redis-bus-{index}")
}

/// Opens a link at a port of our choice, which it returns.
///
/// # Errors
/// No free port, or the proxy refuses.
pub(crate) async fn open(
    proxy: &ProxyClient,
    name: &str,
    upstream: SocketAddr,
) -> Result<u16, EnvironmentError> {
    loop {
        let port = free_port()?;
        match open_at(proxy, name, port, upstream).await {
            Ok(()) => return Ok(port),
            // Somebody was quicker: ends with `NoFreePort` at the latest.
            Err(error) if error.is_port_in_use() => {}
            Err(error) => return Err(error),
        }
    }
}

/// Opens a link at a given port of 127.0.0.1.
pub(crate) async fn open_at(
    proxy: &ProxyClient,
    name: &str,
    port: u16,
    upstream: SocketAddr,
) -> Result<(), EnvironmentError> {
    let request = LinkRequest {
        name: name.to_owned(),
        listen: format!("127.0.0.1:{port}"),
        upstream: upstream.to_string(),
        enabled: true,
    };
    Ok(proxy.put(&request).await?)
}
