//! What the stores and the service show: samples while the load runs, full readings at the start and
//! at rest. Reads go straight to the authorities, never through the fault proxies.

pub mod agreement;
pub mod alerts;
mod cache;
mod metrics;
mod reader;
mod routes;
mod sampler;
mod settle;
mod slot;
mod store;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::target::template::UnknownVariable;

pub use reader::StoreReader;
pub use sampler::{Sampler, SamplerOptions};
pub use settle::{SettleOptions, Settled, settle};

/// One reading, cheap enough to take several times a second. One line of `samples.jsonl`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Since the first arrival; negative before it.
    pub at_ms: i64,
    /// Units still available, all SKUs together; None: the store did not answer.
    pub store_available: Option<i64>,
    pub cache_available: Option<i64>,
    /// The lowest SKU of each: a negative one is an oversell that the sum may hide.
    pub store_available_min: Option<i64>,
    pub cache_available_min: Option<i64>,
    /// Messages committed and not consumed; None: the broker did not answer.
    #[serde(default)]
    pub queue_backlog: Option<u64>,
    /// What each store was asked so far, without what the harness asked; one that did not answer is left out.
    #[serde(default)]
    pub store_calls: BTreeMap<String, u64>,
    /// Counters of the service, by the target's names, all nodes together; empty when one did not answer.
    pub counters: BTreeMap<String, f64>,
    /// CPU used so far by each component, milliseconds.
    pub cpu_ms: BTreeMap<String, u64>,
    /// Connections of the service past the fault proxy, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bypasses: Vec<String>,
}

/// What the machine shows of the run, without asking anybody.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MachineReading {
    /// As of [`Sample::cpu_ms`].
    pub cpu_ms: BTreeMap<String, u64>,
    /// As of [`Sample::bypasses`].
    pub bypasses: Vec<String>,
}

/// Where the authorities answer, past every fault proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoints {
    /// `mysql://user:password@host:port/database` of the primary.
    pub mysql_url: String,
    /// Every node of the cluster, or the one Redis there is.
    pub redis_nodes: Vec<SocketAddr>,
    /// `http://host:port` of each node of the service, for its counters.
    pub service_urls: Vec<String>,
}

/// Observation cannot begin. What fails later is told in `StoreState::unread` instead.
#[derive(Debug, thiserror::Error)]
pub enum ObserveError {
    #[error("{query} of the target file: {source}")]
    Template {
        query: &'static str,
        #[source]
        source: UnknownVariable,
    },
    #[error("{query} of the target file is empty: it must hold a Redis command and its key")]
    Command { query: &'static str },
    #[error("the HTTP client for the service's counters could not be made")]
    Http(#[source] reqwest::Error),
    #[error("no port of 127.0.0.1 could be had for the service's alerts: {0}")]
    AlertSink(#[source] std::io::Error),
    #[error("samples cannot be written to {path}")]
    File {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the sampling task ended early; this is a bug")]
    Task(#[source] tokio::task::JoinError),
}
