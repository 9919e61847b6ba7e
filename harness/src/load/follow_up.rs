//! What buyers do after their purchase was accepted: pay, cancel or ask, a fixed time later.

use std::collections::VecDeque;

use crate::history::operation::OperationKind;

use super::flight::Flight;
use super::population::{NextStep, Purchase};

/// A request that is due later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FollowUp {
    pub due_ns: u64,
    pub kind: OperationKind,
    /// Index of the buy it follows.
    pub index: u64,
    pub purchase: Purchase,
    pub order_id: Box<str>,
}

/// The ones to come. All wait equally long, so they fall due in the order they were planned.
#[derive(Debug)]
pub struct FollowUps {
    after_ns: u64,
    planned: VecDeque<FollowUp>,
}

impl FollowUps {
    pub fn new(after_ms: u64) -> Self {
        Self {
            after_ns: after_ms * 1_000_000,
            planned: VecDeque::new(),
        }
    }

    /// Plans the next step of a buyer whose purchase was accepted just now.
    pub fn plan(&mut self, buy: &Flight, step: NextStep, order_id: &str, now_ns: u64) {
        let kind = match step {
            NextStep::Pay => OperationKind::Pay,
            NextStep::Cancel => OperationKind::Cancel,
            NextStep::Status => OperationKind::Status,
        };
        self.planned.push_back(FollowUp {
            due_ns: now_ns + self.after_ns,
            kind,
            index: buy.index,
            purchase: buy.purchase,
            order_id: order_id.into(),
        });
    }

    pub fn next_due_ns(&self) -> Option<u64> {
        self.planned.front().map(|next| next.due_ns)
    }

    pub fn take(&mut self) -> Option<FollowUp> {
        self.planned.pop_front()
    }

    pub fn clear(&mut self) {
        self.planned.clear();
    }
}
