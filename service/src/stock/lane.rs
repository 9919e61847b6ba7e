//! The lane to one primary: takes reservations, sends them in rounds, closes at the first trouble.
//!
//! A lane belongs to one connection and one server process. Nothing is ever sent twice: a request
//! that was not sent when the lane closed is unavailable, one that was sent is unknown.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{Cmd, RedisError, Value};
use tokio::sync::{Notify, mpsc, oneshot};

use super::connection::{self, Vitals};
use super::identity::Identity;
use super::round::Reservation;
use super::runner::{INBOX, Runner, Shared};
use super::scripts::Scripts;
use super::topology::Primary;
use crate::operations::alerts::Alerts;
use crate::operations::metrics::Metrics;
use crate::sale::order::{OrderMessage, Reserved};
use crate::sale::sku::Sku;
use crate::settings::Unreplicated;

/// What all lanes share.
#[derive(Debug)]
pub struct LaneParts {
    pub scripts: Scripts,
    pub metrics: Metrics,
    pub alerts: Alerts,
    /// Longest wait for a replica; zero does not ask.
    pub replica_ack: Duration,
    pub unreplicated: Unreplicated,
    pub hold: Duration,
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
        let (requests, inbox) = mpsc::channel(INBOX);
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
