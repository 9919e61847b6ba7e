//! One round trip of a lane: the batches of several SKUs in one pipeline, and the replica's
//! acknowledgement behind them.

use std::sync::Arc;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{Pipeline, RedisResult, Value};
use tokio::sync::oneshot;

use super::outcome::{self, BatchAnswer};
use super::scripts::Scripts;
use crate::sale::order::{OrderMessage, Reserved};
use crate::sale::sku::Sku;

/// Requests of one script call at most; the script takes time in proportion, and Redis serves nobody
/// else meanwhile.
pub const BATCH_MAX: usize = 64;

/// One request on its way to Redis.
#[derive(Debug)]
pub struct Reservation {
    pub sku: Arc<Sku>,
    pub order: Arc<OrderMessage>,
    pub deadline_ms: u64,
    pub answer: oneshot::Sender<Reserved>,
}

impl Reservation {
    /// Answers; the asker may be gone.
    pub fn settle(self, outcome: Reserved) {
        let _ = self.answer.send(outcome);
    }
}

/// Requests of one SKU, answered by one script call.
#[derive(Debug)]
pub struct Batch {
    pub sku: Arc<Sku>,
    pub reservations: Vec<Reservation>,
}

/// Groups requests by SKU in the order of their arrival.
#[must_use]
pub fn into_batches(reservations: impl IntoIterator<Item = Reservation>) -> Vec<Batch> {
    let mut batches: Vec<Batch> = Vec::new();
    for reservation in reservations {
        let open = |batch: &&mut Batch| {
            Arc::ptr_eq(&batch.sku, &reservation.sku) && batch.reservations.len() < BATCH_MAX
        };
        match batches.iter_mut().rev().find(open) {
            Some(batch) => batch.reservations.push(reservation),
            None => batches.push(Batch {
                sku: Arc::clone(&reservation.sku),
                reservations: vec![reservation],
            }),
        }
    }
    batches
}

/// What a round says.
#[derive(Debug)]
pub struct RoundAnswer {
    /// One for each batch, in order.
    pub batches: Vec<BatchAnswer>,
    /// Replicas that acknowledged everything; `None` when not asked.
    pub replicas: Option<i64>,
}

/// Whether and how long a round waits for a replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplicaAck {
    NotAsked,
    Within(Duration),
}

/// Sends all batches and waits for their answers.
///
/// # Errors
/// The connection failed or the answer took too long: every outcome is unknown.
pub async fn send(
    connection: &mut MultiplexedConnection,
    scripts: &Scripts,
    batches: &[Batch],
    now_ms: u64,
    ack: ReplicaAck,
) -> RedisResult<RoundAnswer> {
    let mut pipe = Pipeline::with_capacity(batches.len() + 1);
    for batch in batches {
        pipe.add_command(reserve_call(scripts, batch, now_ms));
    }
    if let ReplicaAck::Within(wait) = ack {
        pipe.cmd("WAIT")
            .arg(1)
            .arg(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
    }
    let answers = connection
        .send_packed_commands(&pipe, 0, pipe.len())
        .await?;
    Ok(read(answers, batches))
}

fn reserve_call(scripts: &Scripts, batch: &Batch, now_ms: u64) -> redis::Cmd {
    let mut cmd = scripts.reserve.call(&batch.sku.keys.all());
    let deadline_ms = batch
        .reservations
        .first()
        .map_or(now_ms, |first| first.deadline_ms);
    cmd.arg(batch.sku.epoch()).arg(now_ms).arg(deadline_ms);
    for reservation in &batch.reservations {
        let order = &reservation.order;
        cmd.arg(&order.order_id)
            .arg(&order.user)
            .arg(order.quantity)
            .arg(&order.request_id);
    }
    cmd
}

fn read(answers: Vec<Value>, batches: &[Batch]) -> RoundAnswer {
    let mut answers = answers.into_iter();
    let read_one = |batch: &Batch| {
        outcome::read_batch(
            answers.next().unwrap_or(Value::Nil),
            batch.reservations.len(),
        )
    };
    let batches = batches.iter().map(read_one).collect();
    let replicas = match answers.next() {
        Some(Value::Int(replicas)) => Some(replicas),
        Some(_) => Some(0),
        None => None,
    };
    RoundAnswer { batches, replicas }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sale::sku::{Gate, Rules};

    fn reservation(sku: &Arc<Sku>, id: usize) -> Reservation {
        let order = OrderMessage {
            order_id: id.to_string(),
            sale: sku.sale.clone(),
            sku: sku.sku.clone(),
            user: "u".into(),
            quantity: 1,
            request_id: id.to_string(),
            at_ms: 0,
        };
        let (answer, _) = oneshot::channel();
        Reservation {
            sku: Arc::clone(sku),
            order: Arc::new(order),
            deadline_ms: 0,
            answer,
        }
    }

    #[test]
    fn batches_hold_one_sku_each_and_no_more_than_the_most() {
        let skus = ["a", "b"].map(|sku| Arc::new(Sku::new("s", sku, Rules::default(), Gate::Open)));
        let requests = (0..150).map(|id| reservation(&skus[usize::from(id % 3 == 0)], id));
        let batches = into_batches(requests);
        let sizes: Vec<_> = batches
            .iter()
            .map(|batch| (batch.sku.sku.as_str(), batch.reservations.len()))
            .collect();
        assert_eq!(sizes, [("b", 50), ("a", 64), ("a", 36)]);
        for batch in &batches {
            assert!(
                batch
                    .reservations
                    .iter()
                    .all(|one| Arc::ptr_eq(&one.sku, &batch.sku))
            );
        }
    }

    #[test]
    fn missing_answers_are_unknown_and_no_acknowledgement_is_zero_replicas() {
        let sku = Arc::new(Sku::new("s", "a", Rules::default(), Gate::Open));
        let batches = into_batches([reservation(&sku, 1)]);
        let answer = read(vec![], &batches);
        assert_eq!(answer.batches[0].outcomes, [Reserved::Unknown]);
        assert_eq!(answer.replicas, None);
        let answer = read(vec![Value::Nil, Value::Nil], &batches);
        assert_eq!(answer.replicas, Some(0));
    }
}
