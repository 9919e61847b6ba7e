//! One journey: challenge, buy, poll, then pay, cancel or leave.

use std::time::{Duration, Instant};

use goose::goose::GooseUser;
use goose::metrics::GooseRequestMetric;

use super::answer::{Answer, exchange};
use super::buyers::journey_number;
use super::calls::Learnt;
use super::shop::Shop;
use super::step::{End, Step};
use crate::history::final_state::OrderState;
use crate::history::operation::{Operation, OperationKind, Outcome};
use crate::load::mapping::Meaning;
use crate::load::population::{NextStep, Purchase};
use crate::load::reason::Ending;

/// Makes one journey and writes it down.
pub async fn journey(shop: &Shop, user: &mut GooseUser, purchase: Purchase) {
    let began = Instant::now();
    shop.logbook.started();
    let mut walk = Walk {
        shop,
        user,
        purchase,
        learnt: Learnt::default(),
    };
    let end = walk.go_through().await.unwrap_or_else(|early| early);
    shop.logbook.ended(end, began.elapsed());
}

/// A buyer on the way.
struct Walk<'s, 'u> {
    shop: &'s Shop,
    user: &'u mut GooseUser,
    purchase: Purchase,
    learnt: Learnt,
}

/// When a request was sent.
#[derive(Clone, Copy)]
struct Sent {
    at_ns: u64,
    fault_epoch: u16,
}

/// An answer that came whole.
struct Answered {
    /// HTTP says that it was done.
    is_success: bool,
    body: Vec<u8>,
    /// Of steps that are in the history.
    meaning: Option<Meaning>,
}

impl Walk<'_, '_> {
    /// Err is an end too: one that comes before the last step.
    async fn go_through(&mut self) -> Result<End, End> {
        self.take_challenge().await?;
        self.buy().await?;
        match self.poll().await? {
            OrderState::Created | OrderState::Paid => {}
            OrderState::Rejected | OrderState::Cancelled | OrderState::Expired => {
                return Err(End::Refused);
            }
        }
        match self.shop.buyers.last_step(self.purchase.key) {
            Some(NextStep::Pay) => self.settle(Step::Pay, End::Paid).await,
            Some(NextStep::Cancel) => self.settle(Step::Cancel, End::Cancelled).await,
            Some(NextStep::Status | NextStep::PayAndCancel) | None => Ok(End::Left),
        }
    }

    async fn take_challenge(&mut self) -> Result<(), End> {
        if !self.shop.calls.has_challenge() {
            return Ok(());
        }
        let answered = self.ask(Step::Challenge).await?.ok_or(End::Failed)?;
        let challenge = self.shop.challenge(&answered.body);
        self.learnt.challenge = challenge
            .filter(|_| answered.is_success)
            .ok_or(End::Failed)?;
        self.think().await
    }

    async fn buy(&mut self) -> Result<(), End> {
        let answered = self.ask(Step::Buy).await?.ok_or(End::Failed)?;
        match answered.meaning.map(|meaning| meaning.outcome) {
            Some(Outcome::Accepted) => {}
            Some(Outcome::Refused) => return Err(End::Refused),
            Some(Outcome::Unknown) | None => return Err(End::Failed),
        }
        let order_id = self.shop.mapping.order_id(&answered.body);
        self.learnt.order_id = order_id.ok_or(End::Failed)?.to_owned();
        Ok(())
    }

    /// Asks until the order is decided. A poll that fails is asked again: it changes nothing.
    async fn poll(&mut self) -> Result<OrderState, End> {
        let every = Duration::from_millis(self.shop.journeys.poll_every_ms);
        for _ in 0..self.shop.journeys.poll_max {
            self.pause(every).await?;
            let answered = self.ask(Step::Poll).await?;
            let body = answered.as_ref().filter(|one| one.is_success);
            if let Some(state) = body.and_then(|one| {
                self.shop
                    .mapping
                    .order_state(OperationKind::Status, &one.body)
            }) {
                return Ok(state);
            }
        }
        Err(End::NeverFinal)
    }

    async fn settle(&mut self, step: Step, done: End) -> Result<End, End> {
        self.think().await?;
        match self.ask(step).await? {
            Some(answered) if answered.is_success => Ok(done),
            _ => Err(End::Failed),
        }
    }

    async fn think(&self) -> Result<(), End> {
        self.pause(Duration::from_millis(self.shop.journeys.think_ms))
            .await
    }

    async fn pause(&self, pause: Duration) -> Result<(), End> {
        match self.shop.clock.sleep(pause).await {
            true => Ok(()),
            false => Err(End::CutShort),
        }
    }

    /// Sends one request and records what came of it. None: no whole answer came.
    async fn ask(&mut self, step: Step) -> Result<Option<Answered>, End> {
        if self.shop.clock.is_over() {
            return Err(End::CutShort);
        }
        let call = self.shop.calls.call(step, &self.purchase, &self.learnt);
        let call = call.map_err(|_| End::Failed)?;
        let sent = Sent {
            at_ns: self.shop.clock.now_ns(),
            fault_epoch: self.shop.epoch.now(),
        };
        let (answer, counted) = tokio::select! {
            ended = exchange(self.user, step, call) => ended,
            () = self.shop.clock.given_up() => {
                self.record(step, sent, &Answer::Lost(Ending::Timeout));
                return Err(End::CutShort);
            }
        };
        let meaning = self.record(step, sent, &answer);
        let is_good = is_good(step, &answer, meaning);
        if let Some(request) = counted {
            self.shop.logbook.answered(step);
            self.correct(request, is_good);
        }
        Ok(match answer {
            Answer::Lost(_) => None,
            Answer::Whole { status, body } => Some(Answered {
                is_success: is_success(status),
                body,
                meaning,
            }),
        })
    }

    /// Goose takes every 2xx for a success and all else for a failure; the target knows better.
    fn correct(&mut self, mut request: GooseRequestMetric, is_good: bool) {
        // Fails only when Goose is no longer there to count, and that shows in its count.
        let _ = match (request.success, is_good) {
            (false, true) => self.user.set_success(&mut request),
            (true, false) => self
                .user
                .set_failure("no use of it", &mut request, None, None),
            _ => Ok(()),
        };
    }

    /// Writes a request into the history; what its answer means to the buyer.
    fn record(&self, step: Step, sent: Sent, answer: &Answer) -> Option<Meaning> {
        let kind = step.kind()?;
        let mapping = &self.shop.mapping;
        let (status, meaning, order_id, told) = match answer {
            Answer::Lost(ending) => (0, Meaning::unknown(ending.reason()), None, None),
            Answer::Whole { status, body } => {
                let meaning = mapping.meaning(kind, *status, body);
                let gives_id = step == Step::Buy && meaning.outcome == Outcome::Accepted;
                let order_id = gives_id.then(|| mapping.order_id(body)).flatten();
                let told = mapping.order_state(kind, body);
                (*status, meaning, order_id, told)
            }
        };
        let operation = Operation {
            // A journey has no place in the schedule; its number stands for it.
            index: journey_number(self.purchase.key),
            kind,
            key: self.purchase.key,
            user: self.purchase.user,
            sku: self.purchase.sku,
            quantity: self.purchase.quantity,
            attempt: 0,
            node: u8::try_from(self.node()).unwrap_or(u8::MAX),
            fault_epoch: sent.fault_epoch,
            // Nobody waits for a buyer of a closed loop: a request is meant when it is sent.
            intended_ns: sent.at_ns,
            sent_ns: sent.at_ns,
            completed_ns: self.shop.clock.now_ns(),
            outcome: meaning.outcome,
            reason: meaning.reason,
            status,
            told,
            order_id: None,
        };
        self.shop.logbook.record(&operation, order_id);
        Some(meaning)
    }

    /// Number of the node that the buyer stays at.
    fn node(&self) -> usize {
        self.shop.endpoint.node(self.user.weighted_users_index)
    }
}

fn is_good(step: Step, answer: &Answer, meaning: Option<Meaning>) -> bool {
    match (answer, meaning) {
        (Answer::Lost(_), _) => false,
        // A refusal that the target names is what the service should answer.
        (_, Some(meaning)) if step == Step::Buy => meaning.outcome != Outcome::Unknown,
        (Answer::Whole { status, .. }, _) => is_success(*status),
    }
}

fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}
