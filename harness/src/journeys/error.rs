//! Why journeys could not be made.

use std::time::Duration;

use crate::history::HistoryError;
use crate::load::LoadError;
use crate::target::template::UnknownVariable;

/// A server that misbehaves is no error: it shows in the history and in how journeys end.
#[derive(Debug, thiserror::Error)]
pub enum JourneyError {
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error("target.requests.{request}: {source}")]
    Template {
        request: &'static str,
        source: UnknownVariable,
    },
    #[error("target.requests.{request}: {method} is no method that Goose can send")]
    Method {
        request: &'static str,
        method: String,
    },
    #[error("the HTTP client of the journeys cannot be made: {0}")]
    Client(#[from] reqwest::Error),
    #[error("Goose failed: {0}")]
    Goose(String),
    #[error("Goose had not ended {} ms after it was asked to", after.as_millis())]
    NeverEnded { after: Duration },
    #[error("Goose counted {counted} requests of {step}, its buyers sent {sent}")]
    Miscounted {
        step: &'static str,
        counted: u64,
        sent: u64,
    },
    #[error("a thread of the journeys cannot be started: {0}")]
    Thread(std::io::Error),
    #[error("the journeys went unrecorded: {0}")]
    History(#[from] HistoryError),
    #[error("the journeys stopped by a mistake of their own: {0}")]
    Panicked(String),
}
