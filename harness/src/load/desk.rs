//! Where answers end up: understood, recorded, and followed up.

use super::flight::Flight;
use super::follow_up::{FollowUps, NotPlanned};
use super::mapping::{Mapping, Meaning};
use super::population::Buyers;
use super::reason::Ending;
use super::recorder::Recorder;
use crate::history::operation::{Operation, OperationKind, Outcome};

#[derive(Debug)]
pub struct Desk {
    pub mapping: Mapping,
    pub buyers: Buyers,
    pub recorder: Recorder,
    pub follow_ups: FollowUps,
}

impl Desk {
    pub fn sent(&mut self, flight: &Flight) {
        self.recorder.sent(flight);
    }

    /// A whole answer came.
    pub fn answered(&mut self, flight: &Flight, status: u16, body: &[u8], now_ns: u64) {
        let meaning = self.mapping.meaning(flight.kind, status, body);
        let order_id = match meaning.outcome {
            Outcome::Accepted => self.mapping.order_id(body),
            Outcome::Refused | Outcome::Unknown => None,
        };
        let operation = Operation {
            told: self.mapping.order_state(flight.kind, body),
            ..flight.operation(meaning, status, now_ns)
        };
        self.recorder
            .completed(flight, &operation, meaning, order_id);
        if let Some(order_id) = order_id
            && flight.opens_an_order(meaning.outcome)
            && let Some(step) = self.buyers.next_step(flight.purchase.key)
        {
            let planned = self.follow_ups.plan(flight, step, order_id, now_ns);
            self.note(planned);
        }
        self.retry(flight, meaning, now_ns);
    }

    /// The connection ended under the request.
    pub fn lost(&mut self, flight: &Flight, ending: Ending, now_ns: u64) {
        let meaning = Meaning::unknown(ending.reason());
        let operation = flight.operation(meaning, 0, now_ns);
        self.recorder.completed(flight, &operation, meaning, None);
        self.retry(flight, meaning, now_ns);
    }

    /// The buyer may click again. A second click that arrived by itself does not: its first does.
    fn retry(&mut self, flight: &Flight, meaning: Meaning, now_ns: u64) {
        let purchase = &flight.purchase;
        if flight.kind != OperationKind::Buy || purchase.duplicate || !meaning.is_worth_a_retry() {
            return;
        }
        if let Some(wait_ns) = self.buyers.retry_wait_ns(purchase.key, flight.click) {
            let due_ns = now_ns.saturating_add(wait_ns);
            let planned = self.follow_ups.plan_retry(flight, due_ns);
            self.note(planned);
        }
    }

    fn note(&mut self, planned: Result<(), NotPlanned>) {
        if let Err(NotPlanned(kind)) = planned {
            self.recorder.not_planned(kind);
        }
    }
}
