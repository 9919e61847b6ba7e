//! What becomes of dead letters while no operator looks: they are replayed again and again, orders among them that MySQL
//! goes on refusing are given up, and whoever is on call hears when there are many (MQ-10).

use std::time::{Duration, Instant};

use super::alerts::{Alerts, Trouble};
use super::dead_letters::{LetterDesk, LetterError};
use crate::store::{DeadLetter, StoreError};

/// Time between two looks at how many there are.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// So many are worth somebody's attention.
const ALERT_AT: i64 = 10;

/// Every keeper has one; that of the one that leads acts.
pub struct LetterSchedule {
    pub desk: LetterDesk,
    pub alerts: Alerts,
    pub node: String,
    /// Time between two replays.
    pub interval: Duration,
    /// An order that was refused so often is given up.
    pub tries_max: u32,
}

impl LetterSchedule {
    /// Runs until the task is aborted.
    pub async fn run(self) {
        let mut replayed_at = Instant::now();
        loop {
            tokio::time::sleep(LOOK_INTERVAL).await;
            let is_due = replayed_at.elapsed() >= self.interval;
            if let Err(error) = self.look(is_due).await {
                tracing::debug!(%error, "dead letters cannot be read");
            } else if is_due {
                replayed_at = Instant::now();
            }
        }
    }

    async fn look(&self, is_due: bool) -> Result<(), StoreError> {
        if !self.desk.store.leads(&self.node).await? {
            return Ok(());
        }
        self.tell(self.desk.store.dead_letters_count().await?);
        if is_due {
            for letter in &self.desk.store.dead_letters().await? {
                self.replay(letter).await;
            }
        }
        Ok(())
    }

    /// The trouble is over when none is left.
    fn tell(&self, letters: i64) {
        if letters >= ALERT_AT {
            let text = format!("{letters} messages could not be delivered or applied");
            self.alerts.raise_here(Trouble::DeadLetters, text);
        } else if letters == 0 {
            self.alerts.over_here(Trouble::DeadLetters);
        }
    }

    async fn replay(&self, letter: &DeadLetter) {
        let done = match self.desk.replayed(letter).await {
            Err(LetterError::Store(error))
                if !error.is_transient() && letter.tries + 1 >= self.tries_max =>
            {
                tracing::error!(order = letter.order_id, %error, "order is given up");
                self.desk.discarded(letter).await
            }
            done => done,
        };
        if let Err(error) = done {
            tracing::warn!(letter = letter.id, %error, "dead letter stays one");
        }
    }
}
