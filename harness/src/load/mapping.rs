//! What an answer means: the target's rules for buys, the status class for follow-ups.

use std::collections::BTreeMap;

use memchr::memmem::Finder;

use super::order_id::OrderIdField;
use super::reason::{CLIENT_ERROR, SERVER_ERROR, UNMAPPED_ANSWER, place};
use crate::history::final_state::OrderState;
use crate::history::operation::{OperationKind, Outcome};
use crate::target::{AnswerOutcome, Target};

/// The target's rules, ready to be asked for each answer.
#[derive(Debug)]
pub struct Mapping {
    rules: Vec<Rule>,
    order_id: OrderIdField,
    state: OrderIdField,
    states: BTreeMap<String, OrderState>,
}

#[derive(Debug)]
struct Rule {
    status: u16,
    contains: Finder<'static>,
    meaning: Meaning,
}

/// What one answer means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meaning {
    pub outcome: Outcome,
    /// Place in the table of reasons.
    pub reason: u16,
    /// A refusal that tells of an outage.
    pub outage: bool,
    /// A refusal after which another click may succeed.
    pub retryable: bool,
}

impl Meaning {
    /// The buyer got nothing, and may get something by another click.
    pub fn is_worth_a_retry(self) -> bool {
        match self.outcome {
            Outcome::Accepted => false,
            Outcome::Refused => self.retryable,
            Outcome::Unknown => true,
        }
    }

    /// Perhaps applied, perhaps not: a buyer would try again.
    pub fn unknown(reason: u16) -> Self {
        Self {
            outcome: Outcome::Unknown,
            reason,
            outage: false,
            retryable: false,
        }
    }
}

impl Mapping {
    /// `reasons` is [`super::reason::reasons`] of the same target.
    pub fn new(target: &Target, reasons: &[String]) -> Self {
        let rules = target.answers.iter().map(|rule| Rule {
            status: rule.status,
            contains: Finder::new(rule.contains.as_bytes()).into_owned(),
            meaning: Meaning {
                outcome: outcome(rule.outcome),
                reason: place(reasons, &rule.reason),
                outage: rule.outage,
                retryable: rule.is_retryable(),
            },
        });
        Self {
            rules: rules.collect(),
            order_id: OrderIdField::new(&target.order_id_field),
            state: OrderIdField::new(&target.status_field),
            states: target.state.order_states.clone(),
        }
    }

    /// The meaning of an answer, by the kind of request it answers.
    pub fn meaning(&self, kind: OperationKind, status: u16, body: &[u8]) -> Meaning {
        match kind {
            OperationKind::Buy => self.buy(status, body),
            OperationKind::Status | OperationKind::Pay | OperationKind::Cancel => by_class(status),
        }
    }

    /// The order id in the body of an accepted answer.
    pub fn order_id<'b>(&self, body: &'b [u8]) -> Option<&'b str> {
        self.order_id.find(body)
    }

    /// The state of an order that an answer tells, once it is decided. An answer to a buy tells none.
    pub fn order_state(&self, kind: OperationKind, body: &[u8]) -> Option<OrderState> {
        match kind {
            OperationKind::Buy => None,
            OperationKind::Status | OperationKind::Pay | OperationKind::Cancel => {
                self.states.get(self.state.find(body)?).copied()
            }
        }
    }

    /// A target without rules is any HTTP server.
    fn buy(&self, status: u16, body: &[u8]) -> Meaning {
        if self.rules.is_empty() {
            return by_class(status);
        }
        self.rules
            .iter()
            .find(|rule| rule.status == status && rule.contains.find(body).is_some())
            .map_or(Meaning::unknown(UNMAPPED_ANSWER), |rule| rule.meaning)
    }
}

fn outcome(outcome: AnswerOutcome) -> Outcome {
    match outcome {
        AnswerOutcome::Accepted => Outcome::Accepted,
        AnswerOutcome::Refused => Outcome::Refused,
        AnswerOutcome::Unknown => Outcome::Unknown,
    }
}

/// Without rules, as for paying and cancelling: 2xx did it, 4xx did not, the rest is unknown.
fn by_class(status: u16) -> Meaning {
    match status {
        200..300 => Meaning {
            outcome: Outcome::Accepted,
            reason: 0,
            outage: false,
            retryable: false,
        },
        400..500 => Meaning {
            outcome: Outcome::Refused,
            reason: CLIENT_ERROR,
            outage: false,
            retryable: false,
        },
        _ => Meaning::unknown(SERVER_ERROR),
    }
}
