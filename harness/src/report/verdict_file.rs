//! `verdict.json`: the verdict for machines. Fields are added, never renamed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ReportInput;
use crate::check::{CheckResult, Level, Loss, Recovery, Tally, Verdict};
use crate::drill::top_up::TopUpEvent;
use crate::faults::FaultEvent;
use crate::journeys::JourneySummary;
use crate::load::spec::Fitted;
use crate::load::summary::{LoadSummary, PhaseSummary};

/// The file as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VerdictFile {
    pub verdict: Verdict,
    /// Why it is not a pass; empty for a pass.
    pub reasons: Vec<String>,
    pub drill: String,
    pub title: String,
    pub controls: Vec<String>,
    pub run: String,
    pub started_at: String,
    pub seed: u64,
    /// The broken variant of the service that ran; null: the service itself.
    pub mutant: Option<String>,
    pub checks: Vec<CheckResult>,
    pub load: LoadFigures,
    /// Whole buyers beside the load; absent: the drill has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journeys: Option<JourneySummary>,
    pub faults: Vec<FaultEvent>,
    /// Absent: the drill has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub top_ups: Vec<TopUpEvent>,
    /// Injection to the last outage answer, the longest of all faults; null: no fault, or no recovery.
    pub recovery_ms: Option<u64>,
    pub recoveries: Vec<Recovery>,
    /// Service before, during and after the faults.
    #[serde(default)]
    pub levels: Vec<Level>,
    /// What each layer lost, and what it was allowed to lose.
    #[serde(default)]
    pub losses: Vec<Loss>,
    /// End of load and faults to the stores at rest; null: never.
    pub converged_ms: Option<u64>,
    pub sale: Tally,
    pub environment: BTreeMap<String, String>,
}

/// The load in a few numbers; all of them are in `load.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadFigures {
    pub offered: u64,
    pub sent: u64,
    pub late: u64,
    pub dropped: u64,
    pub offered_per_s: f64,
    pub sent_per_s: f64,
    pub sent_share: f64,
    pub schedule_lag_us_p99: u64,
    pub response_us_p50: u64,
    pub response_us_p99: u64,
    pub phases: Vec<PhaseSummary>,
    /// Null: the rates are the drill's own.
    pub fitted: Option<Fitted>,
    /// What kept the generator from its schedule most; null: nothing to speak of.
    pub held_up_by: Option<String>,
}

impl VerdictFile {
    pub fn new(input: &ReportInput<'_>) -> Self {
        let (evidence, judgement) = (input.evidence, input.judgement);
        Self {
            verdict: judgement.verdict,
            reasons: judgement.reasons.clone(),
            drill: evidence.plan.drill.clone(),
            title: evidence.plan.title.clone(),
            controls: evidence.plan.controls.clone(),
            run: input.run.to_owned(),
            started_at: input.started_at.to_owned(),
            seed: evidence.plan.seed,
            mutant: input.mutant.map(str::to_owned),
            checks: judgement.checks.clone(),
            load: LoadFigures::new(&evidence.load, evidence.plan.load.fitted.clone()),
            journeys: evidence.journeys.clone(),
            faults: evidence.faults.clone(),
            top_ups: evidence.top_ups.clone(),
            recovery_ms: judgement.recovery_ms,
            recoveries: judgement.recoveries.clone(),
            levels: judgement.levels.clone(),
            losses: judgement.losses.clone(),
            converged_ms: evidence.stores.converged_ms,
            sale: judgement.tally.clone(),
            environment: input.environment.clone(),
        }
    }
}

impl LoadFigures {
    fn new(load: &LoadSummary, fitted: Option<Fitted>) -> Self {
        Self {
            offered: load.offered,
            sent: load.sent,
            late: load.late,
            dropped: load.dropped,
            offered_per_s: load.offered_per_s,
            sent_per_s: load.sent_per_s,
            sent_share: load.sent_share,
            schedule_lag_us_p99: load.schedule_lag_us.p99,
            response_us_p50: load.response_us.p50,
            response_us_p99: load.response_us.p99,
            phases: load.phases.clone(),
            fitted,
            held_up_by: load.held_up_by.clone(),
        }
    }
}
