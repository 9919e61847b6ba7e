//! The lane to one primary: takes reservations, sends them in rounds, closes at the first trouble.
//!
//! A lane belongs to one connection and one server process. Nothing is ever sent twice: a request
//! that was not sent when the lane closed is unavailable, one that was sent is unknown.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{Cmd, RedisError, RedisResult, Value};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinSet;

use super::connection::{self, Vitals};
use super::identity::Identity;
use super::outcome;
use super::round::{self, Batch, ReplicaAck, Reservation, ReserveStep, RoundAnswer};
use super::scripts::Scripts;
use super::topology::Primary;
use crate::operations::metrics::Metrics;
use crate::sale::order::{OrderMessage, Reserved};
use crate::sale::sku::{Gate, Sku};
use crate::settings::Unreplicated;

/// Rounds on their way at once: the next is built while the last one is waited for.
const ROUNDS_IN_FLIGHT: usize = 4;

/// Requests of one round at most, over all SKUs.
const ROUND_MAX: usize = 256;

/// What all lanes share.
#[derive(Debug)]
pub struct LaneParts {
    pub scripts: Scripts,
    pub metrics: Metrics,
    /// Longest wait for a replica; zero does not ask.
    pub replica_ack: Duration,
    pub unreplicated: Unreplicated,
    pub hold: Duration,
    pub reserve_step: ReserveStep,
    /// A lane closed: the supervisor should look at once.
    pub closed: Notify,
}

/// Why a call to Redis did not do its work.
#[derive(Debug, thiserror::Error)]
pub enum LaneError {
    #[error("Redis {primary} refuses to serve: {source}")]
    Redis { primary: String, source: RedisError },
    #[error("Redis {address} says that it is no primary; the cluster is changing")]
    NotPrimary { address: String },
}

/// Handle on a running lane.
#[derive(Debug)]
pub struct Lane {
    pub primary: Primary,
    pub identity: Arc<Identity>,
    requests: mpsc::Sender<Reservation>,
    connection: MultiplexedConnection,
    shared: Arc<Shared>,
    parts: Arc<LaneParts>,
}

/// What the handle and the running rounds share.
#[derive(Debug, Default)]
struct Shared {
    is_closed: AtomicBool,
    closing: Notify,
    replicas_online: AtomicU32,
}

impl Lane {
    /// Connects, asks who answers, loads the scripts, and starts to take reservations.
    ///
    /// # Errors
    /// The server cannot be reached or is no primary.
    pub async fn open(
        primary: Primary,
        identify: impl FnOnce(&Primary, &Vitals) -> Arc<Identity>,
        parts: Arc<LaneParts>,
    ) -> Result<Self, LaneError> {
        let fail = |source| LaneError::Redis {
            primary: primary.address.to_string(),
            source,
        };
        let mut connection = connection::open(&primary.address).await.map_err(fail)?;
        let vitals = connection::vitals(&mut connection).await.map_err(fail)?;
        if !vitals.is_primary {
            return Err(LaneError::NotPrimary {
                address: primary.address.to_string(),
            });
        }
        parts.scripts.load(&mut connection).await.map_err(fail)?;
        let identity = identify(&primary, &vitals);
        let shared = Arc::new(Shared::default());
        shared
            .replicas_online
            .store(vitals.replicas_online, Ordering::Relaxed);
        let (requests, inbox) = mpsc::channel(ROUND_MAX * ROUNDS_IN_FLIGHT);
        let runner = Runner {
            identity: Arc::clone(&identity),
            connection: connection.clone(),
            shared: Arc::clone(&shared),
            parts: Arc::clone(&parts),
        };
        tokio::spawn(runner.run(inbox));
        Ok(Self {
            primary,
            identity,
            requests,
            connection,
            shared,
            parts,
        })
    }

    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.is_closed.load(Ordering::SeqCst)
    }

    /// Sends nothing any more; what was sent is waited for.
    pub fn close(&self, reason: &str) {
        self.shared.close(&self.parts, &self.identity, reason);
    }

    /// Reserves through the next round.
    pub async fn reserve(&self, sku: Arc<Sku>, order: Arc<OrderMessage>) -> Reserved {
        let hold_ms = u64::try_from(self.parts.hold.as_millis()).unwrap_or(u64::MAX);
        let deadline_ms = order.at_ms.saturating_add(hold_ms);
        let (answer, answered) = oneshot::channel();
        let reservation = Reservation {
            sku,
            order,
            deadline_ms,
            answer,
        };
        if self.is_closed() || self.requests.send(reservation).await.is_err() {
            return Reserved::Unavailable;
        }
        // The lane answers every request it took; a lost answer is one that may have been sent.
        answered.await.unwrap_or(Reserved::Unknown)
    }

    /// Sends one command on this lane's connection. An error closes the lane unless it is the
    /// script's own.
    ///
    /// # Errors
    /// See [`LaneError`]. The command may have been carried out.
    pub async fn call(&self, cmd: &Cmd) -> Result<Value, LaneError> {
        let answer = self.connection.clone().send_packed_command(cmd).await;
        answer
            .and_then(Value::extract_error)
            .map_err(|source| self.failed(source))
    }

    /// Asks again who answers; closes the lane if it is not the same process, or no primary.
    pub async fn probe(&self) {
        match connection::vitals(&mut self.connection.clone()).await {
            Err(source) => drop(self.failed(source)),
            Ok(vitals) if vitals.run_id != self.identity.run_id => {
                self.close("another process answers");
            }
            Ok(vitals) if !vitals.is_primary => self.close("it is no primary any more"),
            Ok(vitals) => self
                .shared
                .replicas_online
                .store(vitals.replicas_online, Ordering::Relaxed),
        }
    }

    fn failed(&self, source: RedisError) -> LaneError {
        if source.kind() != redis::ErrorKind::Server(redis::ServerErrorKind::ResponseError) {
            self.close(&source.to_string());
        }
        LaneError::Redis {
            primary: self.primary.address.to_string(),
            source,
        }
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        self.close("replaced");
    }
}

impl Shared {
    fn close(&self, parts: &LaneParts, identity: &Identity, reason: &str) {
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
struct Runner {
    identity: Arc<Identity>,
    connection: MultiplexedConnection,
    shared: Arc<Shared>,
    parts: Arc<LaneParts>,
}

impl Runner {
    async fn run(self, mut inbox: mpsc::Receiver<Reservation>) {
        let mut rounds = JoinSet::new();
        let mut waiting = Vec::with_capacity(ROUND_MAX);
        while !self.shared.is_closed.load(Ordering::SeqCst) {
            tokio::select! {
                () = self.shared.closing.notified() => break,
                Some(_) = rounds.join_next(), if !rounds.is_empty() => {}
                taken = inbox.recv_many(&mut waiting, ROUND_MAX), if rounds.len() < ROUNDS_IN_FLIGHT => {
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
        match self.parts.reserve_step {
            ReserveStep::Atomic => {
                round::send(
                    &mut connection,
                    &self.parts.scripts,
                    batches,
                    now_ms,
                    self.ack(),
                )
                .await
            }
            #[cfg(feature = "mutants")]
            ReserveStep::ReadThenDecrement => {
                crate::mutants::read_then_decrement::send(&mut connection, batches, now_ms).await
            }
        }
    }

    /// Without a replica WAIT would only cost its time-out.
    fn ack(&self) -> ReplicaAck {
        let has_replica = self.shared.replicas_online.load(Ordering::Relaxed) > 0;
        if self.parts.replica_ack.is_zero() || !has_replica {
            ReplicaAck::NotAsked
        } else {
            ReplicaAck::Within(self.parts.replica_ack)
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
            .filter(|outcome| matches!(outcome, Reserved::Granted { .. }))
            .count();
        self.parts.metrics.granted(granted, is_replicated);
        if remaining < 0 {
            self.parts.metrics.negative_stock.increment(1);
            tracing::error!(
                sale = sku.sale,
                sku = sku.sku,
                remaining,
                "ALERT: negative stock in Redis"
            );
            sku.suspect();
        }
        if outcomes.contains(&Reserved::Unavailable) || outcomes.contains(&Reserved::Unknown) {
            self.shared
                .close(&self.parts, &self.identity, "a batch was not carried out");
        }
    }
}
