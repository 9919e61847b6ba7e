//! A drill on its way to a file: what is drawn, shrunk and written.

use serde::Serialize;

use crate::check::CheckId;
use crate::faults::Fault;
use crate::load::schedule::Schedule;

/// The sections of a drill file that are drawn; all else has its default.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Draft {
    pub title: String,
    pub controls: Vec<String>,
    /// Below 2^63, which is what TOML can write.
    pub seed: u64,
    pub service: DraftService,
    pub sale: DraftSale,
    pub load: DraftLoad,
    pub population: DraftPopulation,
    pub faults: Vec<DraftFault>,
    pub expect: DraftExpect,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DraftService {
    pub nodes: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DraftSale {
    pub skus: u64,
    pub units_per_sku: u64,
    pub limit_per_user: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DraftLoad {
    pub connections: u64,
    #[serde(flatten)]
    pub schedule: Schedule,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DraftPopulation {
    pub users: u64,
    pub sku_skew: f64,
    pub duplicate_share: f64,
    pub retry_share: f64,
    pub retry_after_ms: u64,
    pub pay_share: f64,
    pub cancel_share: f64,
    pub race_share: f64,
    pub status_share: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DraftFault {
    pub at_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub for_ms: Option<u64>,
    #[serde(flatten)]
    pub fault: Fault,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DraftExpect {
    pub checks: Vec<CheckId>,
    pub schedule_lag_us_p99_max: u64,
    pub sell_out: bool,
}

impl Draft {
    /// As a drill file.
    ///
    /// # Errors
    /// A value that TOML cannot hold; a bug.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    /// In a few words: the load and the faults.
    pub fn summary(&self) -> String {
        let schedule = &self.load.schedule;
        let phases = schedule.phases.iter().map(|phase| phase.name.as_str());
        let faults = self.faults.iter().map(|one| one.fault.kind());
        let faults = match self.faults.is_empty() {
            true => "no fault".to_owned(),
            false => faults.collect::<Vec<_>>().join(" + "),
        };
        let load = phases.collect::<Vec<_>>().join(", ");
        let (nodes, load_s) = (self.service.nodes, schedule.duration_ms() as f64 / 1e3);
        format!("{load} for {load_s:.1} s, nodes {nodes}, {faults}")
    }
}
