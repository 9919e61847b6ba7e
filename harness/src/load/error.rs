//! Why a load could not run, or could not be recorded.

use std::io;

use nix::errno::Errno;

use crate::history::HistoryError;
use crate::target::template::UnknownVariable;

/// A server that misbehaves is no error: it shows as unknown outcomes in the history.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("load.{setting} is {value}; it must be {allowed}")]
    Setting {
        setting: &'static str,
        value: u64,
        allowed: &'static str,
    },
    #[error("target.requests.{request}: {source}")]
    Template {
        request: &'static str,
        source: UnknownVariable,
    },
    #[error("the load generator's event queue failed while it {doing}: {source}")]
    Events {
        doing: &'static str,
        source: io::Error,
    },
    #[error("the system's timer failed: {0}; the schedule cannot be kept")]
    Timer(#[from] Errno),
    #[error("the load went unrecorded: {0}")]
    History(#[from] HistoryError),
    #[error("could not write the response time log {path}: {reason}")]
    ResponseLog { path: String, reason: String },
    #[error("the load generator stopped by a mistake of its own: {0}")]
    Panicked(String),
}
