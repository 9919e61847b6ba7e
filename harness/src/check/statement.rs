//! What a buyer was told about an order, and when.

use crate::history::final_state::OrderState;
use crate::history::operation::{Operation, OperationKind, Outcome};

/// Kept of one purchase; a buyer who asks more often hears the same.
const KEPT_MAX: usize = 16;

/// The order was in this state at some moment between the two times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statement {
    pub state: OrderState,
    pub sent_ns: u64,
    pub completed_ns: u64,
}

impl Statement {
    /// What an answer told: the state it names, else what its acceptance means.
    pub fn of(operation: &Operation) -> Option<Self> {
        let accepted = operation.outcome == Outcome::Accepted;
        let meant = match operation.kind {
            OperationKind::Pay if accepted => Some(OrderState::Paid),
            OperationKind::Cancel if accepted => Some(OrderState::Cancelled),
            _ => None,
        };
        Some(Self {
            state: operation.told.or(meant)?,
            sent_ns: operation.sent_ns,
            completed_ns: operation.completed_ns,
        })
    }

    /// Adds it to what was told before, unless that says the same.
    pub fn join(self, told: &mut Vec<Self>) {
        let repeats = told.last().is_some_and(|last| last.state == self.state);
        if !repeats && told.len() < KEPT_MAX {
            told.push(self);
        }
    }

    /// It was over before the other began.
    pub fn is_before(&self, other: &Self) -> bool {
        self.completed_ns < other.sent_ns
    }
}
