//! Where answers end up: understood, recorded, and followed up.

use super::flight::Flight;
use super::follow_up::FollowUps;
use super::mapping::{Mapping, Meaning};
use super::population::Buyers;
use super::reason::Ending;
use super::recorder::Recorder;
use crate::history::operation::Outcome;

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
        let operation = flight.operation(meaning, status, now_ns);
        self.recorder.completed(&operation, meaning, order_id);
        if let Some(order_id) = order_id
            && flight.opens_an_order(meaning.outcome)
            && let Some(step) = self.buyers.next_step(flight.purchase.key)
        {
            self.follow_ups.plan(flight, step, order_id, now_ns);
        }
    }

    /// The connection ended under the request.
    pub fn lost(&mut self, flight: &Flight, ending: Ending, now_ns: u64) {
        let meaning = Meaning {
            outcome: Outcome::Unknown,
            reason: ending.reason(),
            outage: false,
        };
        let operation = flight.operation(meaning, 0, now_ns);
        self.recorder.completed(&operation, meaning, None);
    }
}
