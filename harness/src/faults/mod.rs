//! Faults as values: what to break, when it was broken and healed, and the proof that it bit.
//!
//! One file per kind in `kinds/`. The runner takes each through the same steps: applicable, inject, receipt, heal,
//! is healed. Network faults go through Toxiproxy's REST API only.

pub mod compose;
mod cut_points;
mod downed;
mod error;
mod full_disk;
mod kind;
mod kind_name;
mod kinds;
mod link_toxic;
mod links;
mod needs;
mod node;
mod probe;
mod row_lock;
mod runner;
mod servers;
mod site;
mod sku_command;
mod sql;
mod toxics;

pub use error::FaultError;
pub use full_disk::StoreName;
pub use kind::{Key, Need};
pub use kind_name::KindName;
pub use kinds::*;
pub use links::{Links, Streams};
pub use needs::{Grounds, Lack, Unmet, unmet};
pub use runner::{Timeline, heal_all, run};
pub use servers::ServerName;
pub use site::Site;

use serde::{Deserialize, Serialize};

/// A fault and its place on the load's timeline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedFault {
    /// From the first arrival.
    pub at_ms: u64,
    /// From the injection to the heal. None: until it is told to heal, or a change of state that is not healed.
    pub for_ms: Option<u64>,
    pub fault: Fault,
}

/// What became of one planned fault. Times are since the first arrival.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FaultEvent {
    pub kind: String,
    /// Human words: which node, which link.
    pub what: String,
    pub injected_at_ms: u64,
    /// The fault epoch that began when it was injected, and the one when it was healed; None: it was not.
    #[serde(default)]
    pub injected_epoch: Option<u16>,
    #[serde(default)]
    pub healed_epoch: Option<u16>,
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

impl FaultEvent {
    /// A fault of which nothing has happened yet.
    pub fn planned(planned: &PlannedFault) -> Self {
        let about = planned.fault.about();
        Self {
            kind: about.kind.to_owned(),
            what: String::new(),
            injected_at_ms: planned.at_ms,
            injected_epoch: None,
            healed_epoch: None,
            healed_at_ms: None,
            heals: about.heals,
            receipt: None,
            error: None,
        }
    }

    /// The last thing that happened to it, in one line.
    pub fn news(&self) -> String {
        let Self { kind, what, .. } = self;
        match (self.healed_at_ms, &self.receipt, &self.error) {
            (Some(ms), ..) => format!("{kind}: healed at {:.1} s", ms as f64 / 1e3),
            (None, _, Some(error)) => format!("{kind}: {error}"),
            (None, Some(receipt), None) => format!("{kind} bit: {receipt}"),
            (None, None, None) => format!("{kind}: {what}"),
        }
    }
}
