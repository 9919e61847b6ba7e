//! The time of the journeys: when a buyer comes, and when all go home.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a sleeping buyer does not notice Ctrl-C.
const NOTICE: Duration = Duration::from_millis(50);
/// How long an answer is waited for after Ctrl-C.
const LAST_ANSWER: Duration = Duration::from_millis(400);

/// Times are since the load's first arrival.
#[derive(Debug, Clone)]
pub struct Clock {
    start: Instant,
    end: Instant,
    cancel: Arc<AtomicBool>,
}

impl Clock {
    pub fn new(start: Instant, length: Duration, cancel: Arc<AtomicBool>) -> Self {
        Self {
            start,
            end: start + length,
            cancel,
        }
    }

    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// No step begins from now on.
    pub fn is_over(&self) -> bool {
        self.is_cancelled() || Instant::now() >= self.end
    }

    /// Nanoseconds since the first arrival.
    pub fn now_ns(&self) -> u64 {
        let since = Instant::now().saturating_duration_since(self.start);
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    }

    /// Sleeps until that long after the first arrival. False: it was over before.
    pub async fn sleep_until(&self, after: Duration) -> bool {
        self.sleep_to(self.start + after).await
    }

    /// False: it was over before.
    pub async fn sleep(&self, pause: Duration) -> bool {
        self.sleep_to(Instant::now() + pause).await
    }

    async fn sleep_to(&self, at: Instant) -> bool {
        loop {
            if self.is_over() {
                return false;
            }
            let left = at.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            tokio::time::sleep(left.min(NOTICE)).await;
        }
    }

    /// Returns when it is over.
    pub async fn over(&self) {
        while !self.is_over() {
            tokio::time::sleep(NOTICE).await;
        }
    }

    /// Returns when an answer is not worth waiting for any more: some time after Ctrl-C. The end of the
    /// load alone is no reason, an answer then has its full time-out.
    pub async fn given_up(&self) {
        while !self.is_cancelled() {
            tokio::time::sleep(NOTICE).await;
        }
        tokio::time::sleep(LAST_ANSWER).await;
    }
}
