//! Units that come while the sale is open: the target is asked for them at their time, under one id until it answers.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde::{Deserialize, Serialize};

use super::narrate::Narrate;
use super::plan::{Plan, PlannedTopUp};
use super::prepare::Prepared;
use crate::faults::Timeline;
use crate::figures::ms;
use crate::target::call::{CallError, call};

/// Time between an answer that decides nothing and the next try.
const RETRY_AFTER: Duration = Duration::from_millis(250);
/// A service that has not said yes by then is not asked any more.
const GIVE_UP_AFTER: Duration = Duration::from_secs(60);

/// What became of one planned top-up. Times are since the first arrival.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopUpEvent {
    /// The same in every try, and in no other run.
    pub id: String,
    /// Id of the SKU.
    pub sku: String,
    pub units: u32,
    /// The first try; None: it was cut short before.
    pub sent_ns: Option<u64>,
    pub tries: u32,
    pub outcome: TopUpOutcome,
}

/// What the service said of it in the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum TopUpOutcome {
    /// Buyers find the units since this answer.
    OnSale { answered_ns: u64 },
    /// Nothing was added.
    Refused { why: String },
    /// The units may have been added, or be added yet.
    Unknown { why: String },
}

impl TopUpEvent {
    fn planned(top_up: &PlannedTopUp, number: usize, sale: &str) -> Self {
        let run = xxhash_rust::xxh3::xxh3_64(sale.as_bytes());
        Self {
            id: format!("top-up-{number}-{run:016x}"),
            sku: top_up.sku.clone(),
            units: top_up.units,
            sent_ns: None,
            tries: 0,
            outcome: TopUpOutcome::Refused {
                why: "cancelled before it was asked for".to_owned(),
            },
        }
    }

    /// What became of it, in one line.
    pub fn news(&self) -> String {
        let Self { sku, units, .. } = self;
        let at = ms(self.sent_ns.unwrap_or_default() / 1_000_000);
        match &self.outcome {
            TopUpOutcome::OnSale { answered_ns } => {
                let since = ms(answered_ns / 1_000_000);
                format!("{units} units of {sku} asked for at {at}, on sale since {since}")
            }
            TopUpOutcome::Refused { why } => {
                format!("{units} units of {sku} refused at {at}: {why}")
            }
            TopUpOutcome::Unknown { why } => {
                let tries = self.tries;
                format!("{units} units of {sku} asked for at {at}, {tries} times, no yes: {why}")
            }
        }
    }

    fn cut_short(&mut self) {
        let why = "cancelled before it was answered".to_owned();
        self.outcome = TopUpOutcome::Unknown { why };
    }

    /// One more try has ended. A no is one only if no earlier try can have added the units.
    fn tried(&mut self, answer: Result<(), CallError>, answered_ns: u64) -> Next {
        self.tries += 1;
        match answer {
            Ok(()) => {
                self.outcome = TopUpOutcome::OnSale { answered_ns };
                Next::Done
            }
            Err(no) if no.is_refusal() => {
                let why = no.to_string();
                self.outcome = match self.tries {
                    1 => TopUpOutcome::Refused { why },
                    _ => TopUpOutcome::Unknown { why },
                };
                Next::Done
            }
            Err(other) => {
                let why = other.to_string();
                self.outcome = TopUpOutcome::Unknown { why };
                Next::TryAgain
            }
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Next {
    Done,
    TryAgain,
}

/// Asks for the plan's top-ups, each at its time; returns when each is answered or given up.
pub async fn run(
    plan: &Plan,
    prepared: &Prepared,
    narrate: &dyn Narrate,
    timeline: Timeline<'_>,
) -> Vec<TopUpEvent> {
    let top_ups = plan.sale.top_ups.iter().zip(1..);
    let all = top_ups.map(async |(top_up, number)| {
        let mut event = TopUpEvent::planned(top_up, number, &plan.sale.id);
        let at = timeline.clock + Duration::from_millis(top_up.at_ms);
        if timeline.sleep_until(Some(at)).await {
            carry_out(&mut event, plan, prepared, timeline).await;
        }
        narrate.say(&format!("top-up: {}", event.news()));
        event
    });
    join_all(all).await
}

/// Asks the nodes in turn, so that one which is down keeps nobody waiting.
async fn carry_out(
    event: &mut TopUpEvent,
    plan: &Plan,
    prepared: &Prepared,
    timeline: Timeline<'_>,
) {
    let Some(request) = &plan.target.start.top_up else {
        return;
    };
    let mut variables = prepared.variables.clone();
    variables.extend([
        ("sku".to_owned(), event.sku.clone()),
        ("units".to_owned(), event.units.to_string()),
        ("top_up".to_owned(), event.id.clone()),
    ]);
    let begun = Instant::now();
    event.sent_ns = Some(timeline.ns(begun));
    for node in prepared.services.iter().cycle() {
        let answer = tokio::select! {
            answer = call(&node.base_url, request, &variables) => answer.map(drop),
            _ = timeline.sleep_until(None) => return event.cut_short(),
        };
        if event.tried(answer, timeline.ns(Instant::now())) == Next::Done
            || begun.elapsed() > GIVE_UP_AFTER
            || !timeline
                .sleep_until(Some(Instant::now() + RETRY_AFTER))
                .await
        {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(status: u16) -> Result<(), CallError> {
        Err(CallError::Refused {
            method: "PUT".to_owned(),
            path: "/top-up".to_owned(),
            status,
            body: String::new(),
        })
    }

    fn after(answers: Vec<Result<(), CallError>>) -> (TopUpEvent, Next) {
        let planned = PlannedTopUp {
            at_ms: 1_000,
            sku: "s0".to_owned(),
            units: 5,
        };
        let mut event = TopUpEvent::planned(&planned, 1, "sale-1");
        let mut next = Next::TryAgain;
        for answer in answers {
            next = event.tried(answer, 7);
        }
        (event, next)
    }

    #[test]
    fn only_a_clear_answer_ends_the_tries() {
        for status in [408, 425, 429, 500, 503] {
            let (event, next) = after(vec![answered(status)]);
            let unknown = matches!(event.outcome, TopUpOutcome::Unknown { .. });
            assert!(unknown && next == Next::TryAgain, "{status}: {event:?}");
        }
        for status in [400, 404, 409, 422] {
            let (event, next) = after(vec![answered(status)]);
            let refused = matches!(event.outcome, TopUpOutcome::Refused { .. });
            assert!(refused && next == Next::Done, "{status}: {event:?}");
        }
        let (event, next) = after(vec![answered(503), Ok(())]);
        let outcome = TopUpOutcome::OnSale { answered_ns: 7 };
        assert_eq!((event.outcome, event.tries, next), (outcome, 2, Next::Done));
    }

    /// The first try may have added the units before the sale was closed.
    #[test]
    fn a_no_after_a_try_that_may_have_worked_decides_nothing() {
        let (event, next) = after(vec![answered(503), answered(409)]);
        let unknown = matches!(event.outcome, TopUpOutcome::Unknown { .. });
        assert!(unknown && next == Next::Done, "{event:?}");
    }
}
