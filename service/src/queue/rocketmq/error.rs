//! What can go wrong between this process and RocketMQ.

use std::time::Duration;

use rocketmq_client_rust::ClientError;

/// A failed call to the name server, to a broker, or inside the client library.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    #[error("{peer} could not be asked for {request}: {source}")]
    Io {
        peer: String,
        request: &'static str,
        source: std::io::Error,
    },
    #[error("{peer} did not answer {request} within {after:?}")]
    NoAnswer {
        peer: String,
        request: &'static str,
        after: Duration,
    },
    #[error("{peer} answered {request} with something that is no RocketMQ frame: {detail}")]
    Frame {
        peer: String,
        request: &'static str,
        detail: String,
    },
    #[error("{peer} refused {request} with code {code}: {remark}")]
    Refused {
        peer: String,
        request: &'static str,
        code: i64,
        remark: String,
    },
    #[error("name server {namesrv} knows no broker; has the broker registered?")]
    NoBroker { namesrv: String },
    #[error("RocketMQ client could not {action}: {source}")]
    Client {
        action: &'static str,
        source: ClientError,
    },
    #[error("RocketMQ client runtime could not be built: {detail}")]
    Runtime { detail: String },
    #[error("RocketMQ was not usable within {after:?}: {last}")]
    NotReady {
        after: Duration,
        last: Box<QueueError>,
    },
    #[error("the broker has taken messages and not stored them durably")]
    NotFlushed,
    #[error("RocketMQ is not reachable at the moment")]
    Disconnected,
}

impl QueueError {
    /// The broker is there and did not take what it was given.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::Refused { .. } | Self::NotFlushed => true,
            Self::Client { source, .. } => source.broker_response_code().is_some(),
            _ => false,
        }
    }

    pub(super) fn client(action: &'static str, source: ClientError) -> Self {
        Self::Client { action, source }
    }
}
