//! `[expect]` and `[[mutants]]`: what must hold, and what must be caught.

use std::collections::BTreeMap;

use deserr::Deserr;

use crate::check::CheckId;
use crate::drill::problems::Problems;
use crate::drill::range::{Count, Factor, Share};
use crate::faults::KindName;

#[derive(Debug, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct ExpectSection {
    pub checks: Vec<CheckId>,
    #[deserr(default = Share::new(0.99).expect("0.99 is a share"))]
    pub sent_share_min: Share,
    #[deserr(default = Count::new(250_000).expect("250000 is in range"))]
    pub schedule_lag_us_p99_max: Count,
    /// For phases by name, instead.
    #[deserr(default)]
    pub phase_lag_us_p99_max: BTreeMap<String, Count>,
    #[deserr(default = Count::new(30_000).expect("30000 is in range"))]
    pub converge_ms_max: Count,
    #[deserr(default = Count::new(30_000).expect("30000 is in range"))]
    pub recover_ms_max: Count,
    /// Messages that may wait in the queue while the load runs; B1 asks it.
    #[deserr(default)]
    pub backlog_max: Option<Count>,
    /// What a store may be asked for each buyer refused once everything is sold; G1 asks it.
    #[deserr(default = Factor::new(0.1).expect("0.1 is a factor"))]
    pub store_calls_per_refusal_max: Factor,
    /// A1 asks it; no other alert may come.
    #[deserr(default)]
    pub alerts: Vec<AlertSection>,
    #[deserr(default)]
    pub service_levels: Option<ServiceLevelsSection>,
    #[deserr(default = true)]
    pub sell_out: bool,
}

/// `[[expect.alerts]]`: what whoever is on call must be told, once for each thing that it can be about.
#[derive(Debug, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct AlertSection {
    pub name: String,
    /// After each injection of a fault of this kind; without it: after the load has begun.
    #[deserr(default)]
    pub fault: Option<KindName>,
    #[deserr(default = Count::new(10_000).expect("10000 is in range"))]
    pub within_ms: Count,
    /// 0: it may come.
    #[deserr(default = 1)]
    pub at_least: u64,
}

/// `[expect.service_levels]`: how well buyers must be served before, during and after the faults; `during` lasts until
/// a fault is healed for `recover_ms_max`.
#[derive(Debug, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct ServiceLevelsSection {
    #[deserr(default)]
    pub before: Option<LevelSection>,
    #[deserr(default)]
    pub during: Option<LevelSection>,
    #[deserr(default)]
    pub after: Option<LevelSection>,
    /// By how much the share of buyers served may be lower after the faults than before.
    #[deserr(default = Share::new(0.01).expect("0.01 is a share"))]
    pub after_drop_max: Share,
    /// How many times as long p99 of the response time may be.
    #[deserr(default = Factor::new(3.0).expect("3 is a factor"))]
    pub after_p99_factor_max: Factor,
}

/// Bounds of one of these parts.
#[derive(Debug, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct LevelSection {
    /// Of those served, from the intended start to the answer.
    #[deserr(default)]
    pub response_us_p99_max: Option<Count>,
    /// Buyers who got an answer that tells of no outage.
    #[deserr(default)]
    pub served_share_min: Option<Share>,
}

#[derive(Debug, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct MutantSection {
    pub name: String,
    /// The variant of the target that it is a mutant of; None: the service as the drill runs it.
    #[deserr(default)]
    pub variant: Option<String>,
    pub check: CheckId,
}
