//! GET, decide in the service, then DECRBY.

use std::collections::HashMap;

use redis::aio::MultiplexedConnection;
use redis::{Pipeline, RedisResult, Value};

use super::Mutant;
use crate::parts::{Instead, Parts};
use crate::sale::order::Reserved;
use crate::stock::outcome::BatchAnswer;
use crate::stock::round::{Batch, Reservation, RoundAnswer};

pub const MUTANT: Mutant = Mutant {
    name: "read-then-decrement",
    breaks: "The stock is read, the service decides, then it decrements: two requests can take the same unit.",
    kind: "K01",
    control: "RD-1",
    part: "reserve step",
    parts: &ReadThenDecrement,
};

struct ReadThenDecrement;

impl Parts for ReadThenDecrement {
    fn reserve<'a>(
        &self,
        connection: &'a mut MultiplexedConnection,
        batches: &'a [Batch],
        now_ms: u64,
    ) -> Instead<'a, RedisResult<RoundAnswer>> {
        Some(Box::pin(send(connection, batches, now_ms)))
    }
}

/// Replaces the script call of a round. Each request decides by what it read, as if it were alone.
async fn send(
    connection: &mut MultiplexedConnection,
    batches: &[Batch],
    now_ms: u64,
) -> RedisResult<RoundAnswer> {
    let mut answers = Vec::with_capacity(batches.len());
    for batch in batches {
        answers.push(reserve(connection, batch, now_ms).await?);
    }
    Ok(RoundAnswer {
        batches: answers,
        replicas: None,
    })
}

async fn reserve(
    connection: &mut MultiplexedConnection,
    batch: &Batch,
    now_ms: u64,
) -> RedisResult<BatchAnswer> {
    let seen = read(connection, batch).await?;
    let outcomes: Vec<Reserved> = batch
        .reservations
        .iter()
        .enumerate()
        .map(|(at, one)| seen.decide(at, batch, one, now_ms))
        .collect();
    let taken = batch.reservations.iter().zip(&outcomes);
    let taken: Vec<&Reservation> = taken
        .filter(|(_, outcome)| outcome.is_granted())
        .map(|(one, _)| one)
        .collect();
    decrement(connection, batch, &taken).await?;
    Ok(BatchAnswer {
        remaining: seen.available.max(0),
        outcomes,
    })
}

/// What the reads said.
struct Seen {
    available: i64,
    gate: Option<String>,
    epoch: Option<u64>,
    ledger: Vec<Option<String>>,
    held: Vec<Option<i64>>,
}

async fn read(connection: &mut MultiplexedConnection, batch: &Batch) -> RedisResult<Seen> {
    let keys = &batch.sku.keys;
    let ids: Vec<&str> = batch
        .reservations
        .iter()
        .map(|one| one.order.order_id.as_str())
        .collect();
    let users: Vec<&str> = batch
        .reservations
        .iter()
        .map(|one| one.order.user.as_str())
        .collect();
    let mut pipe = Pipeline::new();
    pipe.cmd("HMGET")
        .arg(&keys.stock)
        .arg("available")
        .arg("gate")
        .arg("epoch");
    pipe.cmd("HMGET").arg(&keys.ledger).arg(ids);
    pipe.cmd("HMGET").arg(&keys.held).arg(users);
    type Stock = (Option<i64>, Option<String>, Option<u64>);
    let (stock, ledger, held): (Stock, _, _) = pipe.query_async(connection).await?;
    Ok(Seen {
        available: stock.0.unwrap_or(0),
        gate: stock.1,
        epoch: stock.2,
        ledger,
        held,
    })
}

impl Seen {
    fn decide(&self, at: usize, batch: &Batch, one: &Reservation, now_ms: u64) -> Reserved {
        let (rules, quantity) = (batch.sku.rules(), one.order.quantity);
        let entry = self.ledger.get(at).and_then(Option::as_ref);
        match self.gate.as_deref() {
            None => Reserved::UnknownSku,
            Some(gate) if gate != "open" || self.epoch != Some(batch.sku.epoch()) => {
                Reserved::Closed
            }
            _ if now_ms < rules.starts_at_ms => Reserved::NotStarted,
            _ if rules.ends_at_ms > 0 && now_ms >= rules.ends_at_ms => Reserved::Ended,
            _ if entry.is_some_and(|entry| entry.starts_with("refused")) => Reserved::Refused,
            _ if entry.is_some() || is_repeated(at, batch) => Reserved::Duplicate,
            _ if self.held.get(at).is_some_and(Option::is_some) => Reserved::LimitReached,
            _ if self.available < i64::from(quantity) => Reserved::SoldOut,
            _ => Reserved::Granted {
                remaining: self.available - i64::from(quantity),
            },
        }
    }
}

/// The defect is in the stock, not in the limits: one user or id twice in a batch is still seen.
fn is_repeated(at: usize, batch: &Batch) -> bool {
    let this = &batch.reservations[at].order;
    batch.reservations[..at]
        .iter()
        .any(|one| one.order.order_id == this.order_id || one.order.user == this.user)
}

async fn decrement(
    connection: &mut MultiplexedConnection,
    batch: &Batch,
    taken: &[&Reservation],
) -> RedisResult<()> {
    if taken.is_empty() {
        return Ok(());
    }
    let keys = &batch.sku.keys;
    let mut pipe = Pipeline::new();
    let mut held: HashMap<&str, u32> = HashMap::new();
    for one in taken {
        let (order, deadline_ms) = (&one.order, one.deadline_ms);
        let entry = format!(
            "reserved|{}|{}|{deadline_ms}|{}",
            order.user, order.quantity, order.request_id
        );
        pipe.cmd("HINCRBY")
            .arg(&keys.stock)
            .arg("available")
            .arg(-i64::from(order.quantity));
        pipe.cmd("HSET")
            .arg(&keys.ledger)
            .arg(&order.order_id)
            .arg(entry);
        pipe.cmd("ZADD")
            .arg(&keys.deadlines)
            .arg(deadline_ms)
            .arg(&order.order_id);
        *held.entry(&order.user).or_default() += order.quantity;
    }
    for (user, units) in held {
        pipe.cmd("HINCRBY").arg(&keys.held).arg(user).arg(units);
    }
    let answers: Vec<Value> = connection
        .send_packed_commands(&pipe, 0, pipe.len())
        .await?;
    answers
        .into_iter()
        .try_for_each(|answer| answer.extract_error().map(drop))
}
