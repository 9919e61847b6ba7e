//! What the server saw: when it answered each request, and when it was frozen.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde::Serialize;
use tokio::sync::Notify;

/// No answer was given from `start_ns` to `end_ns`; nanoseconds since the server's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Freeze {
    pub start_ns: u64,
    pub end_ns: u64,
}

/// The log of one server, from its start to its end.
#[derive(Debug, Clone, Default)]
pub struct ServerLog {
    /// When each answer was handed to its connection, in order; nanoseconds since the server's start.
    pub answered_ns: Vec<u64>,
    pub freezes: Vec<Freeze>,
}

/// Writes the log.
#[derive(Debug)]
pub(super) struct Recorder {
    origin: Instant,
    log: Mutex<ServerLog>,
    first: Notify,
}

impl Default for Recorder {
    fn default() -> Self {
        Self {
            origin: Instant::now(),
            log: Mutex::default(),
            first: Notify::new(),
        }
    }
}

impl Recorder {
    pub fn now_ns(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64
    }

    pub fn answered(&self) {
        let now = self.now_ns();
        let mut log = self.log();
        if log.answered_ns.is_empty() {
            self.first.notify_one();
        }
        log.answered_ns.push(now);
    }

    /// Returns after the first answer.
    pub async fn first_answer(&self) {
        self.first.notified().await;
    }

    pub fn frozen(&self, freeze: Freeze) {
        self.log().freezes.push(freeze);
    }

    /// The log so far; the next one starts empty.
    pub fn take(&self) -> ServerLog {
        std::mem::take(&mut self.log())
    }

    fn log(&self) -> MutexGuard<'_, ServerLog> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
