//! One request between its intended start and its answer.

use crate::history::operation::{Operation, OperationKind, Outcome};

use super::mapping::Meaning;
use super::population::Purchase;

/// A request that waits on a connection for its answer. Times are nanoseconds since the first arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flight {
    pub index: u64,
    pub kind: OperationKind,
    pub purchase: Purchase,
    /// Clicks of this purchase before it by a buyer who was not served; 0 for arrivals and follow-ups.
    pub click: u32,
    pub intended_ns: u64,
    /// Number of the node that its connection goes to; set when it is queued.
    pub node: u8,
    /// Set when it is written, as `fault_epoch` is.
    pub sent_ns: u64,
    pub fault_epoch: u16,
}

impl Flight {
    /// A request that is due, and has no connection yet.
    pub fn due(
        index: u64,
        kind: OperationKind,
        purchase: Purchase,
        click: u32,
        intended_ns: u64,
    ) -> Self {
        Self {
            index,
            kind,
            purchase,
            click,
            intended_ns,
            node: 0,
            sent_ns: 0,
            fault_epoch: 0,
        }
    }

    /// Its record. `status` is 0 when no answer came.
    pub fn operation(&self, meaning: Meaning, status: u16, completed_ns: u64) -> Operation {
        Operation {
            index: self.index,
            kind: self.kind,
            key: self.purchase.key,
            user: self.purchase.user,
            sku: self.purchase.sku,
            quantity: self.purchase.quantity,
            attempt: u8::try_from(self.click).unwrap_or(u8::MAX),
            node: self.node,
            fault_epoch: self.fault_epoch,
            intended_ns: self.intended_ns,
            sent_ns: self.sent_ns,
            completed_ns,
            outcome: meaning.outcome,
            reason: meaning.reason,
            status,
            told: None,
            order_id: None,
        }
    }

    /// Another click of a buyer who was not served: outside the schedule.
    pub fn is_retry(&self) -> bool {
        self.click > 0
    }

    /// A purchase that was accepted to the buyer who began it; clicks that arrive later repeat an order that is
    /// already followed.
    pub fn opens_an_order(&self, outcome: Outcome) -> bool {
        self.kind == OperationKind::Buy && outcome == Outcome::Accepted && !self.purchase.duplicate
    }
}
