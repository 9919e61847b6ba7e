//! The stack under the drill: Redis Cluster, RocketMQ and MySQL as native processes or containers behind
//! the fault proxy, and the service beside them.
//!
//! Owns processes, containers, ports, scratch folders and the registry that lets a later start clean up. Knows
//! nothing of load, drills or verdicts. No address other than loopback is ever used.

mod bypass;
mod clean_room;
mod components;
mod config;
mod disk_flush;
mod endpoints;
mod engine;
mod error;
mod fault_proxy;
mod launcher;
pub mod links;
mod mysql;
mod owner;
mod ports;
mod procfs;
mod programs;
mod readiness;
mod redis_cluster;
mod rocketmq;
mod run_folder;
mod runs;
mod server;
mod service;
mod setting;
mod sockets;
mod stack;
mod sweep;
pub(crate) mod volume;
mod write_limit;

pub use clean_room::{CleanRoom, Leftover, LeftoverKind, scan_machine};
pub use disk_flush::DiskFlush;
pub use endpoints::{DatabaseUrl, Endpoints, HostPort, MysqlEndpoints};
pub use error::{EnvironmentError, MissingProgram};
pub use mysql::{Mysql, MysqlReplica, Product, ReplicaStatus};
pub use ports::free_port;
pub use procfs::ProcessState;
pub(crate) use redis_cluster::pings_bytes;
pub use redis_cluster::{Myself, RedisCluster, RedisNode};
pub use rocketmq::RocketMq;
pub use runs::{LiveRun, LiveServer, live_runs};
pub(crate) use server::LogSince;
pub use server::{Ending, LogTail, Server};
pub use service::{Service, ServiceOptions};
pub use setting::{Environment, Setting};
pub use stack::{Progress, Stack, StackOptions};
pub use sweep::{Swept, sweep};
pub(crate) use volume::Volume;
pub(crate) use write_limit::WriteLimit;

/// Races for a port of our own choice that may be lost in a row.
const PORT_RACES: u32 = 3;

/// Runs a start again when it lost the race for its port: only for ports we chose ourselves.
async fn with_fresh_ports<T, S>(mut start: impl FnMut() -> S) -> Result<T, EnvironmentError>
where
    S: Future<Output = Result<T, EnvironmentError>>,
{
    let mut lost = 1;
    loop {
        match start().await {
            Err(error) if error.is_port_in_use() && lost < PORT_RACES => {
                tracing::info!(%error, "trying another port");
                lost += 1;
            }
            result => return result,
        }
    }
}
