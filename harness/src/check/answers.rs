//! What the refusals of a history mean, by the target's rules.

use super::Evidence;
use crate::history::operation::{Operation, Outcome};
use crate::target::{AnswerOutcome, AnswerRule};

/// By index into the history's reasons.
pub struct Answers {
    refusals: Vec<Refusal>,
}

/// What a refusal of one reason says; several rules may share a reason.
#[derive(Debug, Clone, Copy, Default)]
struct Refusal {
    outage: bool,
    outside_sale: bool,
    sold_out: bool,
}

impl Answers {
    pub fn new(evidence: &Evidence) -> Self {
        let rules = &evidence.plan.target.answers;
        let of = |reason: &String| {
            let named = rules
                .iter()
                .filter(|rule| rule.outcome == AnswerOutcome::Refused && rule.reason == *reason);
            named.fold(Refusal::default(), Refusal::and)
        };
        Self {
            refusals: evidence.reasons.iter().map(of).collect(),
        }
    }

    /// The answer, or that there was none, tells of an outage.
    pub fn is_outage(&self, operation: &Operation) -> bool {
        operation.outcome == Outcome::Unknown || self.refusal(operation).outage
    }

    /// The sale was not open to the buyer.
    pub fn is_outside_sale(&self, operation: &Operation) -> bool {
        self.refusal(operation).outside_sale
    }

    /// The buyer was told that nothing is left.
    pub fn is_sold_out(&self, operation: &Operation) -> bool {
        self.refusal(operation).sold_out
    }

    fn refusal(&self, operation: &Operation) -> Refusal {
        let refusal = self.refusals.get(usize::from(operation.reason));
        refusal
            .copied()
            .filter(|_| operation.outcome == Outcome::Refused)
            .unwrap_or_default()
    }
}

impl Refusal {
    fn and(self, rule: &AnswerRule) -> Self {
        Self {
            outage: self.outage || rule.outage,
            outside_sale: self.outside_sale || rule.outside_sale,
            sold_out: self.sold_out || rule.sold_out,
        }
    }
}
