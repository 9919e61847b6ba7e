//! The word to stop, for commands that keep servers running.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::environment::EnvironmentError;

/// Ctrl-C or SIGTERM. Listened to once, from the beginning: a signal that comes between two
/// listeners is lost.
pub struct StopWord {
    interrupt: Signal,
    terminate: Signal,
}

impl StopWord {
    /// # Errors
    /// The system does not let us listen.
    pub fn listen() -> Result<Self, EnvironmentError> {
        let listen = |kind| {
            signal(kind)
                .map_err(|e| EnvironmentError::step("flashdrill", "listening to signals", e))
        };
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
        })
    }

    /// Returns at the next signal.
    pub async fn heard(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
