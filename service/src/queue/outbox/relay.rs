//! Sends the announcements of the outbox through RocketMQ, each at least once (MQ-9).
//!
//! Buyers come first: while many wait for the commit of their orders, which needs the same MySQL, the relay takes one small
//! claim a second, and makes up for it afterwards.
//!
//! Any number of relays may run: each claims rows that no other has. What is sent twice, because a relay died in
//! between, the consumption table lets have one effect.

use std::collections::HashSet;
use std::time::Duration;

use tokio::time::sleep;

use super::Writer;
use crate::failpoints::{Point, reach};
use crate::operations::metrics::Metrics;
use crate::parts::parts;
use crate::queue::rocketmq::{Publisher, QueueError};
use crate::store::{Announcement, Store, StoreError};

/// Announcements claimed at once.
const CLAIM_MAX: u32 = 50;
/// The same, and the pause between two looks, while this gateway's writer is busy.
const BUSY_CLAIM_MAX: u32 = 5;
const BUSY_POLL: Duration = Duration::from_secs(1);

/// One relay.
pub struct Relay {
    pub store: Store,
    pub publisher: Publisher,
    pub metrics: Metrics,
    /// Of this node.
    pub writer: Writer,
    /// Pause after a look that found less than it could take.
    pub poll: Duration,
}

impl Relay {
    /// Runs until the task is aborted.
    pub async fn run(mut self) {
        loop {
            let is_busy = self.writer.is_busy();
            let claim_max = if is_busy { BUSY_CLAIM_MAX } else { CLAIM_MAX };
            let taken = self.relay(claim_max).await.unwrap_or_else(|error| {
                tracing::debug!(%error, "announcements stay where they are");
                0
            });
            sleep(pause(self.poll, taken, is_busy)).await;
        }
    }

    /// One look; returns how many announcements it found. While the broker is away none is tried.
    async fn relay(&mut self, claim_max: u32) -> Result<usize, StoreError> {
        if !self.publisher.is_up() || !self.store.has_announcements().await? {
            return Ok(0);
        }
        let claim = self.store.claim_announcements(claim_max).await?;
        let found = claim.announcements.len();
        if found == 0 {
            return Ok(0);
        }
        let (sent, refusal) = self.send(&claim.announcements).await;
        reach(Point::AfterPublish);
        let why = refusal.map(|error| error.to_string()).unwrap_or_default();
        let sent_count = sent.len() as u64;
        let is_sent =
            |announcement: &Announcement| parts().is_sent(sent.contains(&announcement.id));
        let parked = claim.settle(is_sent, &why).await?;
        self.metrics.announced(sent_count, parked as u64);
        if parked > 0 {
            tracing::error!(parked, why, "announcements are dead letters now");
        }
        Ok(found)
    }

    /// All at once; if the broker refuses that, one by one, so that a single one cannot hold up the others. Returns the
    /// ids of those that were sent, and why the last of the others was not.
    async fn send(&mut self, all: &[Announcement]) -> (HashSet<u64>, Option<QueueError>) {
        let ids = all.iter().map(|announcement| announcement.id);
        let Err(error) = self.publisher.publish(all).await else {
            return (ids.collect(), None);
        };
        if !error.is_refusal() {
            return (HashSet::new(), Some(error));
        }
        let (mut sent, mut refusal) = (HashSet::new(), Some(error));
        for announcement in all {
            match self
                .publisher
                .publish(std::slice::from_ref(announcement))
                .await
            {
                Ok(()) => drop(sent.insert(announcement.id)),
                Err(error) => refusal = Some(error),
            }
        }
        (sent, refusal)
    }
}

/// After a look that found so many announcements.
fn pause(poll: Duration, taken: usize, is_busy: bool) -> Duration {
    if is_busy {
        poll.max(BUSY_POLL)
    } else if taken == CLAIM_MAX as usize {
        Duration::ZERO
    } else {
        poll
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buyers_come_first_and_a_backlog_is_made_up_for() {
        let (poll, minute) = (Duration::from_millis(20), Duration::from_secs(60));
        let full = CLAIM_MAX as usize;
        for (poll, taken, is_busy, expected) in [
            (poll, 0, false, poll),
            (poll, full - 1, false, poll),
            (poll, full, false, Duration::ZERO),
            (poll, full, true, BUSY_POLL),
            (minute, 0, true, minute),
        ] {
            assert_eq!(pause(poll, taken, is_busy), expected, "{taken} {is_busy}");
        }
    }
}
