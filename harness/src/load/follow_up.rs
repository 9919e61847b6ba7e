//! What buyers do after an answer: pay, cancel, ask after their order, or click again.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::history::operation::OperationKind;

use super::flight::Flight;
use super::population::{NextStep, Population, Purchase};

/// Requests that may be planned at a time; some 100 MB.
const PLANNED_MAX: usize = 1 << 20;
const NS_PER_MS: u64 = 1_000_000;

/// A request that is due later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FollowUp {
    pub due_ns: u64,
    /// Of those due at one time, the first planned is the first.
    number: u64,
    pub kind: OperationKind,
    /// Index of the buy it follows.
    pub index: u64,
    pub purchase: Purchase,
    /// Clicks of this purchase before it; 0 unless it is another one.
    pub click: u32,
    /// How often the same is asked again after it.
    polls_left: u32,
    pub order_id: Box<str>,
}

impl Ord for FollowUp {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.due_ns, self.number).cmp(&(other.due_ns, other.number))
    }
}

impl PartialOrd for FollowUp {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// There was no room to plan it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotPlanned(pub OperationKind);

/// The ones to come, by the time they are due.
#[derive(Debug)]
pub struct FollowUps {
    after_ns: u64,
    polls: u32,
    poll_every_ns: u64,
    planned_max: usize,
    planned: BinaryHeap<Reverse<FollowUp>>,
    numbers: u64,
}

impl FollowUps {
    pub fn new(population: &Population) -> Self {
        Self {
            after_ns: population.follow_up_after_ms * NS_PER_MS,
            polls: population.poll_max.max(1),
            poll_every_ns: population.poll_every_ms * NS_PER_MS,
            planned_max: PLANNED_MAX,
            planned: BinaryHeap::new(),
            numbers: 0,
        }
    }

    /// Plans the next step of a buyer whose purchase was accepted just now.
    pub fn plan(
        &mut self,
        buy: &Flight,
        step: NextStep,
        order_id: &str,
        now_ns: u64,
    ) -> Result<(), NotPlanned> {
        use OperationKind::{Cancel, Pay, Status};
        match step {
            NextStep::Pay => self.plan_one(buy, (Pay, 1), order_id, now_ns),
            NextStep::Cancel => self.plan_one(buy, (Cancel, 1), order_id, now_ns),
            NextStep::Status => self.plan_one(buy, (Status, self.polls), order_id, now_ns),
            NextStep::PayAndCancel => self
                .plan_one(buy, (Pay, 1), order_id, now_ns)
                .and(self.plan_one(buy, (Cancel, 1), order_id, now_ns)),
        }
    }

    fn plan_one(
        &mut self,
        buy: &Flight,
        (kind, polls): (OperationKind, u32),
        order_id: &str,
        now_ns: u64,
    ) -> Result<(), NotPlanned> {
        self.add(FollowUp {
            due_ns: now_ns.saturating_add(self.after_ns),
            number: 0,
            kind,
            index: buy.index,
            purchase: buy.purchase,
            click: 0,
            polls_left: polls - 1,
            order_id: order_id.into(),
        })
    }

    /// Plans another click of a buyer who was not served.
    pub fn plan_retry(&mut self, buy: &Flight, due_ns: u64) -> Result<(), NotPlanned> {
        self.add(FollowUp {
            due_ns,
            number: 0,
            kind: OperationKind::Buy,
            index: buy.index,
            purchase: buy.purchase,
            click: buy.click + 1,
            polls_left: 0,
            order_id: Box::default(),
        })
    }

    fn add(&mut self, follow_up: FollowUp) -> Result<(), NotPlanned> {
        if self.planned.len() >= self.planned_max {
            return Err(NotPlanned(follow_up.kind));
        }
        self.numbers += 1;
        self.planned.push(Reverse(FollowUp {
            number: self.numbers,
            ..follow_up
        }));
        Ok(())
    }

    pub fn next_due_ns(&self) -> Option<u64> {
        self.planned.peek().map(|Reverse(next)| next.due_ns)
    }

    /// The one due first. A buyer who asks repeatedly asks again a fixed time after this one is due.
    pub fn take(&mut self) -> Option<FollowUp> {
        let Reverse(next) = self.planned.pop()?;
        if next.polls_left > 0 {
            self.planned.push(Reverse(FollowUp {
                due_ns: next.due_ns.saturating_add(self.poll_every_ns),
                polls_left: next.polls_left - 1,
                ..next.clone()
            }));
        }
        Some(next)
    }

    pub fn clear(&mut self) {
        self.planned.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn flight(index: u64) -> Flight {
        Flight {
            index,
            kind: OperationKind::Buy,
            purchase: Purchase {
                key: index,
                user: 1,
                sku: 0,
                quantity: 1,
                address: Ipv4Addr::LOCALHOST,
                duplicate: false,
            },
            click: 0,
            intended_ns: 0,
            node: 0,
            sent_ns: 0,
            fault_epoch: 0,
        }
    }

    fn follow_ups(poll_max: u32) -> FollowUps {
        FollowUps::new(&Population {
            follow_up_after_ms: 10,
            poll_max,
            poll_every_ms: 3,
            ..Population::of(1)
        })
    }

    /// Due times in ms, and indexes, in the order they are taken.
    fn taken(follow_ups: &mut FollowUps) -> Vec<(u64, u64)> {
        std::iter::from_fn(|| follow_ups.take())
            .map(|one| (one.due_ns / NS_PER_MS, one.index))
            .collect()
    }

    #[test]
    fn the_first_due_is_the_first_taken() {
        let mut planned = follow_ups(1);
        planned.plan(&flight(1), NextStep::Pay, "o1", 0).unwrap();
        planned.plan_retry(&flight(2), 25 * NS_PER_MS).unwrap();
        planned.plan_retry(&flight(3), 5 * NS_PER_MS).unwrap();
        planned.plan(&flight(4), NextStep::Cancel, "o4", 0).unwrap();
        planned.plan(&flight(5), NextStep::Status, "o5", 0).unwrap();
        assert_eq!(planned.next_due_ns(), Some(5 * NS_PER_MS));
        let expected = [(5, 3), (10, 1), (10, 4), (10, 5), (25, 2)];
        assert_eq!(taken(&mut planned), expected);
    }

    #[test]
    fn polls_come_at_their_distance_and_end() {
        let mut planned = follow_ups(3);
        planned.plan(&flight(1), NextStep::Status, "o1", 0).unwrap();
        planned
            .plan(&flight(2), NextStep::Pay, "o2", NS_PER_MS)
            .unwrap();
        assert_eq!(taken(&mut planned), [(10, 1), (11, 2), (13, 1), (16, 1)]);
    }

    #[test]
    fn a_retry_is_another_click_of_the_same_purchase() {
        let mut planned = follow_ups(1);
        let second = Flight {
            click: 1,
            ..flight(7)
        };
        planned.plan_retry(&second, 5).unwrap();
        let retry = planned.take().unwrap();
        assert_eq!((retry.kind, retry.click), (OperationKind::Buy, 2));
        assert_eq!((retry.index, retry.purchase), (7, second.purchase));
    }

    #[test]
    fn what_there_is_no_room_for_is_said_and_not_kept() {
        let mut planned = follow_ups(2);
        planned.planned_max = 1;
        planned.plan(&flight(1), NextStep::Status, "o1", 0).unwrap();
        assert_eq!(
            planned.plan_retry(&flight(2), 0),
            Err(NotPlanned(OperationKind::Buy))
        );
        assert_eq!(
            planned.plan(&flight(3), NextStep::Pay, "o3", 0),
            Err(NotPlanned(OperationKind::Pay))
        );
        assert_eq!(taken(&mut planned), [(10, 1), (13, 1)]);
    }
}
