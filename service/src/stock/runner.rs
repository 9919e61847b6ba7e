//! The task behind a lane: sends one round after the other and hands out their answers. Whoever comes meanwhile goes with
//! the next: the busier, the more requests share a script call and a replica's acknowledgement.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use redis::RedisResult;
use redis::aio::MultiplexedConnection;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;

use super::identity::Identity;
use super::lane::LaneParts;
use super::outcome;
use super::round::{self, Batch, ReplicaAck, Reservation, RoundAnswer};
use crate::operations::alerts::Trouble;
use crate::parts::parts;
use crate::sale::order::Reserved;
use crate::sale::sku::{Gate, Sku};
use crate::settings::Unreplicated;

/// Requests of one round at most, over all SKUs.
const ROUND_MAX: usize = 256;

/// Requests that may wait for a round.
pub(super) const INBOX: usize = ROUND_MAX * 4;

/// What the handle and the running rounds share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) is_closed: AtomicBool,
    closing: Notify,
    pub(super) replicas_online: AtomicU32,
}

impl Shared {
    /// Sends nothing any more, and wakes the supervisor.
    pub(super) fn close(&self, parts: &LaneParts, identity: &Identity, reason: &str) {
        if !self.is_closed.swap(true, Ordering::SeqCst) {
            tracing::warn!(
                node = identity.node_id,
                run = identity.run_id,
                reason,
                "lane to Redis primary closed"
            );
            self.closing.notify_one();
            parts.closed.notify_one();
        }
    }
}

/// The task behind a lane.
#[derive(Debug, Clone)]
pub(super) struct Runner {
    pub(super) identity: Arc<Identity>,
    pub(super) connection: MultiplexedConnection,
    pub(super) shared: Arc<Shared>,
    pub(super) parts: Arc<LaneParts>,
}

impl Runner {
    /// Runs until the lane closes; answers every request it took.
    pub(super) async fn run(self, mut inbox: mpsc::Receiver<Reservation>) {
        let mut rounds = JoinSet::new();
        let mut waiting = Vec::with_capacity(ROUND_MAX);
        while !self.shared.is_closed.load(Ordering::SeqCst) {
            tokio::select! {
                () = self.shared.closing.notified() => break,
                Some(_) = rounds.join_next(), if !rounds.is_empty() => {}
                taken = inbox.recv_many(&mut waiting, ROUND_MAX), if rounds.is_empty() => {
                    if taken == 0 {
                        break;
                    }
                    let sendable = self.sendable(&mut waiting);
                    if !sendable.is_empty() {
                        rounds.spawn(self.clone().round(round::into_batches(sendable)));
                    }
                }
            }
        }
        inbox.close();
        while let Some(reservation) = inbox.recv().await {
            reservation.settle(Reserved::Unavailable);
        }
        while rounds.join_next().await.is_some() {}
    }

    /// Those whose SKU was verified on this very process; the others are answered unsent.
    fn sendable(&self, waiting: &mut Vec<Reservation>) -> Vec<Reservation> {
        let is_barred = self.parts.unreplicated == Unreplicated::Close
            && self.shared.replicas_online.load(Ordering::Relaxed) == 0;
        let mut sendable = Vec::with_capacity(waiting.len());
        for reservation in waiting.drain(..) {
            let is_known = reservation.sku.verified_on() == self.identity.number;
            if is_known && !is_barred && reservation.sku.gate() == Gate::Open {
                sendable.push(reservation);
            } else {
                reservation.settle(Reserved::Unavailable);
            }
        }
        sendable
    }

    async fn round(self, batches: Vec<Batch>) {
        let answer = self.send(&batches).await;
        match answer {
            Ok(answer) => self.answer(batches, answer),
            Err(error) => {
                let outcome = outcome::of_error(&error);
                self.shared
                    .close(&self.parts, &self.identity, &error.to_string());
                for reservation in batches.into_iter().flat_map(|batch| batch.reservations) {
                    reservation.settle(outcome);
                }
            }
        }
    }

    async fn send(&self, batches: &[Batch]) -> RedisResult<RoundAnswer> {
        let mut connection = self.connection.clone();
        let now_ms = crate::sale::clock::now_ms();
        if let Some(instead) = parts().reserve(&mut connection, batches, now_ms) {
            return instead.await;
        }
        let scripts = &self.parts.scripts;
        round::send(&mut connection, scripts, batches, now_ms, self.ack()).await
    }

    /// Without a replica WAIT would only cost its time-out.
    fn ack(&self) -> ReplicaAck {
        let has_replica = self.shared.replicas_online.load(Ordering::Relaxed) > 0;
        if self.parts.replica_ack.is_zero() || !has_replica {
            ReplicaAck::NotAsked
        } else {
            ReplicaAck::Within(parts().replica_patience(self.parts.replica_ack))
        }
    }

    fn answer(&self, batches: Vec<Batch>, answer: RoundAnswer) {
        let is_replicated = answer.replicas.is_some_and(|replicas| replicas > 0);
        for (batch, answer) in batches.into_iter().zip(answer.batches) {
            self.parts.metrics.batch(batch.reservations.len());
            self.note(
                &batch.sku,
                answer.remaining,
                &answer.outcomes,
                is_replicated,
            );
            for (reservation, outcome) in batch.reservations.into_iter().zip(answer.outcomes) {
                reservation.settle(outcome);
            }
        }
    }

    fn note(&self, sku: &Sku, remaining: i64, outcomes: &[Reserved], is_replicated: bool) {
        let granted = outcomes
            .iter()
            .filter(|outcome| outcome.is_granted())
            .count();
        self.parts.metrics.granted(granted, is_replicated);
        if remaining < 0 {
            self.parts.metrics.negative_stock.increment(1);
            let text = format!("Redis has {remaining} units left");
            self.parts.alerts.raise(Trouble::NegativeStock, sku, text);
            sku.suspect();
        }
        if outcomes.contains(&Reserved::Unavailable) || outcomes.contains(&Reserved::Unknown) {
            self.shared
                .close(&self.parts, &self.identity, "a batch was not carried out");
        }
    }
}
