//! The plan: what will run, every default filled in. Saved with the run before anything starts.

use serde::{Deserialize, Serialize};

use crate::check::CheckId;
use crate::faults::Fault;
use crate::journeys::Journeys;
use crate::load::population::Population;
use crate::load::schedule::Schedule;
use crate::target::Target;

/// Everything a run needs to know; a run is repeated from this alone.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Plan {
    /// Path-like name, `redis/primary-kill`.
    pub drill: String,
    /// One sentence for people.
    pub title: String,
    /// Ids of the controls this drill proves.
    pub controls: Vec<String>,
    /// Root of every random stream of the run.
    pub seed: u64,
    pub sale: Sale,
    pub load: Load,
    pub population: Population,
    /// Whole buyers beside the load; None: there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journeys: Option<Journeys>,
    pub faults: Vec<PlannedFault>,
    pub expect: Expect,
    pub mutants: Vec<Mutant>,
    pub target: Target,
}

/// What is on sale.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Sale {
    /// Unique per run, so that nothing of an earlier run can be mistaken for this one's.
    pub id: String,
    pub skus: Vec<Sku>,
    /// Units one user may hold of one SKU.
    pub limit_per_user: u32,
}

impl Sale {
    /// Units on sale, all SKUs together.
    pub fn stock_units(&self) -> u64 {
        self.skus.iter().map(|sku| u64::from(sku.stock)).sum()
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Sku {
    pub id: String,
    /// Units on sale.
    pub stock: u32,
}

/// How requests are offered.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Load {
    pub schedule: Schedule,
    pub connections: u32,
    /// Requests that may be unanswered on one connection (HTTP/1.1 pipelining); 1 is a browser.
    pub depth: u32,
    /// After this a request's outcome is unknown and its connection is replaced.
    pub timeout_ms: u64,
}

/// A fault and its place on the load's timeline.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PlannedFault {
    /// From the first arrival.
    pub at_ms: u64,
    pub fault: Fault,
}

/// What must hold for the drill to pass.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Expect {
    /// Checkers that decide the verdict.
    pub checks: Vec<CheckId>,
    /// Precondition of a valid test: share of the offered requests that must have been sent.
    pub sent_share_min: f64,
    /// Precondition: p99 of the schedule lag.
    pub schedule_lag_us_p99_max: u64,
    /// The stores must agree this long after the load has ended and every fault is healed.
    pub converge_ms_max: u64,
    /// Demand exceeds stock: everything must be sold at the end.
    pub sell_out: bool,
}

/// A broken variant of the service that this drill must catch, and the check that must catch it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Mutant {
    pub name: String,
    pub check: CheckId,
}
