//! Checkers over the history and the final state, one per file. They know nothing of load or faults
//! beyond the recorded evidence.

use deserr::Deserr;
use serde::{Deserialize, Serialize};

use crate::drill::plan::Plan;
use crate::drill::problems::Problems;
use crate::faults::FaultEvent;
use crate::history::final_state::FinalState;
use crate::history::operation::Operation;
use crate::load::summary::LoadSummary;

/// The checkers by the id of the invariant they judge.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Deserr,
)]
#[serde(rename_all = "UPPERCASE")]
#[deserr(error = Problems)]
pub enum CheckId {
    /// Preconditions of a valid test. Always runs.
    P1,
    /// Order oversell and ledger break in the durable store.
    S1,
    /// Admission oversell: more granted than there was.
    S2,
    /// One order per request id.
    S4,
    /// Purchase limit.
    S5,
    /// Phantom orders.
    S6,
    /// Lost accepted orders.
    L1,
    /// Unknown outcomes resolved.
    L2,
    /// Conservation at rest.
    L3,
    /// Sell-through.
    L4,
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
    /// For each violation kept (first ones, at most a few): the chain of events of one key, in words.
    pub witnesses: Vec<Witness>,
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
    pub faults: Vec<FaultEvent>,
    pub stores: FinalState,
    /// Names of `Operation::reason`.
    pub reasons: Vec<String>,
    /// The history ended early or was damaged, and why.
    pub history_damage: Option<String>,
}

/// A judge: sees every operation once, in the order they completed, then gives its answer.
/// Memory must not grow with refusals.
pub trait Checker {
    fn id(&self) -> CheckId;
    fn observe(&mut self, operation: &Operation);
    fn judge(self: Box<Self>, evidence: &Evidence) -> CheckResult;
}
