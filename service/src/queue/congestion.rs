//! Back-pressure: past a backlog new buyers are told "busy" at once, instead of waiting in a queue that only grows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::OrderQueue;
use crate::parts::parts;

/// How late a node learns that the queue is full.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);

/// Whether too many orders wait to be applied, as far as this node knows. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Congestion(Arc<AtomicBool>);

impl Congestion {
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Keeps looking at the backlog until the task is aborted.
    pub async fn watch(self, queue: Arc<dyn OrderQueue>, backlog_max: u64) {
        let backlog_max = parts().backlog_max(backlog_max);
        loop {
            if let Some(backlog) = queue.backlog().await {
                self.note(backlog, backlog_max);
            }
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
    }

    /// Buyers come in again when half of it is done, so that the door does not flap.
    fn note(&self, backlog: u64, backlog_max: u64) {
        let was_full = self.is_full();
        let is_full = backlog >= backlog_max || (was_full && backlog > backlog_max / 2);
        if is_full != was_full {
            tracing::warn!(backlog, backlog_max, is_full, "backlog");
            self.0.store(is_full, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_door_closes_at_the_ceiling_and_opens_at_half_of_it() {
        let congestion = Congestion::default();
        let looks = [0, 99, 100, 500, 99, 51, 50, 99, 100];
        let full = looks.map(|backlog| {
            congestion.note(backlog, 100);
            congestion.is_full()
        });
        let expected = [false, false, true, true, true, true, false, false, true];
        assert_eq!(full, expected);
    }
}
