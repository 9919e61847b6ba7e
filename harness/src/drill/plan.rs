//! The plan: what will run, every default filled in. Saved with the run before anything starts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::check::CheckId;
pub use crate::faults::PlannedFault;
use crate::journeys::Journeys;
use crate::load::population::Population;
pub use crate::load::spec::Load;
use crate::load::spec::{LoadSpec, Loop};
use crate::target::{Role, Target};

/// Everything a run needs to know; a run is repeated from this alone.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Plan {
    /// Path-like name, `redis/primary-kill`, of a variant of the target `redis/primary-kill@outbox`.
    pub drill: String,
    /// Variants of the target under which the drill must hold too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<String>,
    /// One sentence for people.
    pub title: String,
    /// Ids of the controls this drill proves.
    pub controls: Vec<String>,
    /// Root of every random stream of the run.
    pub seed: u64,
    /// The service's nodes, at least one, by what they do.
    #[serde(default = "one_node")]
    pub service: Vec<Role>,
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

/// Of plans that do not say.
fn recover_ms_max() -> u64 {
    30_000
}

fn store_calls_per_refusal_max() -> f64 {
    0.1
}

fn one_node() -> Vec<Role> {
    vec![Role::default()]
}

impl Plan {
    /// What its load generator is to offer.
    pub fn load_spec(&self) -> LoadSpec {
        LoadSpec {
            seed: self.seed,
            sale: self.sale.id.clone(),
            skus: self.sale.skus.iter().map(|sku| sku.id.clone()).collect(),
            load: self.load.clone(),
            kind: Loop::Open,
            population: self.population.clone(),
            target: self.target.clone(),
        }
    }
}

/// What is on sale.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Sale {
    /// Unique per run, so that nothing of an earlier run can be mistaken for this one's.
    pub id: String,
    pub skus: Vec<Sku>,
    /// Units one user may hold of one SKU.
    pub limit_per_user: u32,
    /// When it opens, from the first arrival; 0: before the load.
    pub opens_at_ms: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub top_ups: Vec<PlannedTopUp>,
}

/// Units that come while the sale is open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedTopUp {
    /// From the first arrival.
    pub at_ms: u64,
    /// Id of the SKU.
    pub sku: String,
    pub units: u32,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Sku {
    pub id: String,
    /// Units on sale when it opens.
    pub stock: u32,
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
    /// The same for phases by name, instead.
    #[serde(default)]
    pub phase_lag_us_p99_max: BTreeMap<String, u64>,
    /// The stores must agree this long after the load has ended and every fault is healed.
    pub converge_ms_max: u64,
    /// The service must serve again this long after a fault was healed (L5).
    #[serde(default = "recover_ms_max")]
    pub recover_ms_max: u64,
    /// Messages that may wait in the queue while the load runs (B1); None: not asked.
    #[serde(default)]
    pub backlog_max: Option<u64>,
    /// What a store may be asked for each buyer refused once everything is sold (G1).
    #[serde(default = "store_calls_per_refusal_max")]
    pub store_calls_per_refusal_max: f64,
    /// What whoever is on call must be told (A1); no other alert may come.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alerts: Vec<ExpectedAlert>,
    /// How well buyers must be served (Q1, Q2).
    #[serde(default)]
    pub service_levels: ServiceLevels,
    /// Demand exceeds stock: everything must be sold at the end.
    pub sell_out: bool,
}

/// An alert that must come, once for each thing that it can be about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpectedAlert {
    pub name: String,
    /// After each injection of a fault of this kind; None: after the load has begun.
    pub fault: Option<String>,
    /// So long after it.
    pub within_ms: u64,
    /// 0: it may come.
    pub at_least: u64,
}

/// How well buyers must be served before, during and after the faults; None: as it comes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServiceLevels {
    pub before: Option<LevelBounds>,
    pub during: Option<LevelBounds>,
    pub after: Option<LevelBounds>,
    /// By how much the share of buyers served may be lower after the faults than before.
    pub after_drop_max: f64,
    /// How many times as long p99 of the response time may be.
    pub after_p99_factor_max: f64,
}

impl Default for ServiceLevels {
    fn default() -> Self {
        Self {
            before: None,
            during: None,
            after: None,
            after_drop_max: 0.01,
            after_p99_factor_max: 3.0,
        }
    }
}

/// Bounds of one of these parts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LevelBounds {
    pub response_us_p99_max: Option<u64>,
    pub served_share_min: Option<f64>,
}

impl Expect {
    /// That the stores agree at rest is judged (L3); a drill that parts them on purpose does not ask it.
    pub fn stores_agree(&self) -> bool {
        self.checks.contains(&CheckId::L3)
    }
}

/// A broken variant of the service that this drill must catch, and the check that must catch it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Mutant {
    pub name: String,
    pub check: CheckId,
}
