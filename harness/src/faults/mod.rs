//! Faults as values: what to break, when it was broken and healed, and the proof that it bit.
//!
//! One file per kind. The runner takes each through the same steps: applicable, inject, receipt, heal,
//! is healed. Network faults go through Toxiproxy's REST API only.

mod broker_kill;
mod cache_stock_raise;
mod error;
mod injection;
mod redis_primary_kill;
mod runner;
mod sku_command;

pub use error::FaultError;
pub use runner::{heal_all, run};

use serde::{Deserialize, Serialize};

/// What can be broken. Times are relative to the injection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Fault {
    /// Black-holes the replication links of the Redis primary that owns `sku`, SIGKILLs it
    /// `cut_replication_ms` later (so that acknowledged writes are lost), starts it again after
    /// `restart_after_ms`.
    RedisPrimaryKill {
        sku: String,
        cut_replication_ms: u64,
        restart_after_ms: u64,
    },
    /// Black-holes what the service sends to the broker (answers still arrive), SIGKILLs the broker
    /// `cut_requests_ms` later, starts it again after `restart_after_ms`.
    BrokerKill {
        cut_requests_ms: u64,
        restart_after_ms: u64,
    },
    /// Adds `units` to the cache's stock of `sku`, as a wrong repair would; not healed.
    CacheStockRaise { sku: String, units: u32 },
}

impl Fault {
    /// Name in drill files and reports.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::RedisPrimaryKill { .. } => "redis_primary_kill",
            Self::BrokerKill { .. } => "broker_kill",
            Self::CacheStockRaise { .. } => "cache_stock_raise",
        }
    }
}

/// What became of one planned fault. Times are since the first arrival.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FaultEvent {
    pub kind: String,
    /// Human words: which node, which link.
    pub what: String,
    pub injected_at_ms: u64,
    /// None: could not be healed, or was never to be.
    pub healed_at_ms: Option<u64>,
    /// A fault like `cache_stock_raise` that is a change of state, not an outage, needs no heal.
    pub heals: bool,
    /// Evidence that the fault bit (exit status seen, bytes held back, role changed); None: no
    /// evidence, which makes the run inconclusive.
    pub receipt: Option<String>,
    /// What went wrong while injecting or healing.
    pub error: Option<String>,
}
