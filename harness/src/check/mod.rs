//! Checkers over the history and the final state, one per file. They know nothing of load or faults
//! beyond the recorded evidence.
//!
//! The history is read once: `Purchases` keeps what the checkers need of it, in memory that grows with
//! the orders and the accepted purchases, never with the refusals. Then every checker judges the
//! same `Case`. A false pass is the worst a checker can do, a false alarm the second: what the
//! evidence cannot decide is a doubt, and a doubt makes the answer inconclusive.

mod admission_oversell;
mod alerts;
mod allowance;
mod answers;
mod backlog;
mod case;
mod claims;
mod clean_room;
mod conservation;
mod demand;
mod finding;
mod fulfilment;
mod gate;
mod journeys;
mod judge;
mod ledger;
mod levels;
mod limit;
mod losses;
mod lost;
mod offered;
mod one_order;
mod order_oversell;
mod phantom;
mod preconditions;
mod purchases;
mod recovered;
mod recovery;
mod sell_through;
mod service_levels;
mod spells;
mod statement;
mod steady;
mod supply;
mod tally;
mod transitions;
mod truthful;
mod unknown;
mod witness;

#[cfg(test)]
mod model;
#[cfg(test)]
mod tiny_history;
#[cfg(test)]
pub(crate) use tiny_history::{journeys as tiny_journeys, plan as tiny_plan};

use std::collections::BTreeMap;

use deserr::Deserr;
use serde::{Deserialize, Serialize};

use crate::drill::last_call::LastCall;
use crate::drill::plan::Plan;
use crate::drill::problems::Problems;
use crate::drill::top_up::TopUpEvent;
use crate::environment::CleanRoom;
use crate::faults::FaultEvent;
use crate::history::final_state::FinalState;
use crate::journeys::JourneySummary;
use crate::load::summary::LoadSummary;
use crate::observe::Sample;
use crate::observe::alerts::Alert;

pub use judge::{judge, judge_readings};
pub use levels::Level;
pub use losses::{Layer, Loss};
pub use recovery::Recovery;
pub use tally::Tally;

/// The checkers by the id of the invariant they judge.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Deserr,
)]
#[serde(rename_all = "UPPERCASE")]
#[deserr(error = Problems)]
pub enum CheckId {
    /// Preconditions of a valid test. Always runs.
    P1,
    /// Nothing left behind. Always runs.
    P2,
    /// Order oversell and ledger break in the durable store.
    S1,
    /// Admission oversell: more granted than there was.
    S2,
    /// Fulfilment oversell: more paid than there was.
    S3,
    /// One order per request id.
    S4,
    /// Purchase limit.
    S5,
    /// Phantom orders.
    S6,
    /// Legal order states.
    S7,
    /// Truthful answers.
    S8,
    /// Lost accepted orders.
    L1,
    /// Unknown outcomes resolved.
    L2,
    /// Conservation at rest.
    L3,
    /// Sell-through.
    L4,
    /// Recovery after each fault.
    L5,
    /// Losses within what is allowed.
    L6,
    /// Backlog bound.
    B1,
    /// Refusals do not reach the stores.
    G1,
    /// Alerts.
    A1,
    /// Service levels.
    Q1,
    /// Steady state after the faults.
    Q2,
}

/// Fail outranks inconclusive outranks pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Pass,
    Inconclusive,
    Fail,
}

/// One checker's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    pub id: CheckId,
    pub title: String,
    pub verdict: Verdict,
    /// One sentence with the figures behind the verdict.
    pub detail: String,
    /// Of each class of violation the first, the worst and the last, where these are different ones.
    pub witnesses: Vec<KeptWitness>,
}

/// A witness, and which of the violations of its class it is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptWitness {
    #[serde(default)]
    pub place: Place,
    #[serde(flatten)]
    pub witness: Witness,
}

/// Which of many violations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    #[default]
    First,
    /// The largest.
    Worst,
    Last,
}

impl Place {
    pub fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Worst => "worst",
            Self::Last => "last",
        }
    }
}

/// The shortest chain of events that shows one violation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Witness {
    /// The SKU, user, request id or order id it is about.
    pub subject: String,
    /// Lines in the order of time.
    pub events: Vec<String>,
}

/// Everything recorded but the history itself, which is streamed.
#[derive(Debug, Clone)]
pub struct Evidence {
    pub plan: Plan,
    pub load: LoadSummary,
    /// None: the plan has no journeys.
    pub journeys: Option<JourneySummary>,
    /// None: none was needed.
    pub last_call: Option<LastCall>,
    pub faults: Vec<FaultEvent>,
    /// One for each that is planned, in that order.
    pub top_ups: Vec<TopUpEvent>,
    pub stores: FinalState,
    /// What decides which losses are allowed: `server setting` to value, as it was when the stack came up.
    pub guarantees: BTreeMap<String, String>,
    /// Names of `Operation::reason`.
    pub reasons: Vec<String>,
    /// What of the evidence is damaged or missing, and why: never a pass.
    pub damage: Option<String>,
    /// Taken while the load ran.
    pub samples: Vec<Sample>,
    /// What the service told whoever is on call; None: it was not kept.
    pub alerts: Option<Vec<Alert>>,
    /// What the run left behind.
    pub clean_room: CleanRoom,
}

/// Checks by their ids, for tables.
pub fn words(checks: &[CheckId]) -> String {
    let words = checks.iter().map(|check| format!("{check:?}"));
    words.collect::<Vec<_>>().join(" ")
}

/// The answer of all checkers together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    pub verdict: Verdict,
    /// Why it is not a pass, the deciding ones first; empty for a pass.
    pub reasons: Vec<String>,
    /// P1 and P2 first, then the checks that the drill expects, in the order of their ids.
    pub checks: Vec<CheckResult>,
    pub tally: Tally,
    /// One per fault, in the order of injection.
    pub recoveries: Vec<Recovery>,
    /// Before, during and after the faults.
    pub levels: Vec<Level>,
    /// What each layer lost and may have lost.
    pub losses: Vec<Loss>,
    /// The longest recovery; None: no fault, or the service had not recovered when the load ended.
    pub recovery_ms: Option<u64>,
}

impl Judgement {
    /// The checks that failed.
    pub fn failed(&self) -> Vec<CheckId> {
        let failed = self.checks.iter();
        let failed = failed.filter(|check| check.verdict == Verdict::Fail);
        failed.map(|check| check.id).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_name_checks_by_their_ids() {
        assert_eq!(words(&[CheckId::S1, CheckId::L6]), "S1 L6");
        assert_eq!(words(&[]), "");
    }
}
