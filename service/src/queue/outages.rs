//! Tells when orders cannot be sent any more, whatever the queue is.

use std::time::Duration;

use crate::operations::alerts::{Alerts, Trouble};

const LOOK_INTERVAL: Duration = Duration::from_millis(200);

/// So many looks in a row must say the same, three seconds: a busy machine, or a client that is being replaced, is no
/// outage.
const LOOKS: u32 = 15;

/// Runs until the task is aborted.
pub async fn tell_outages(is_connected: impl Fn() -> bool + Send, alerts: Alerts) {
    let mut steady = Steady::default();
    loop {
        match steady.look(is_connected()) {
            Some(false) => alerts.raise_here(Trouble::QueueDown, "no order can be sent"),
            Some(true) => alerts.over_here(Trouble::QueueDown),
            None => {}
        }
        tokio::time::sleep(LOOK_INTERVAL).await;
    }
}

/// What holds since several looks.
struct Steady {
    is_up: bool,
    looks_against: u32,
}

impl Default for Steady {
    /// A node starts with its queue.
    fn default() -> Self {
        Self {
            is_up: true,
            looks_against: 0,
        }
    }
}

impl Steady {
    /// What has changed.
    fn look(&mut self, is_up: bool) -> Option<bool> {
        self.looks_against = if is_up == self.is_up {
            0
        } else {
            self.looks_against + 1
        };
        if self.looks_against < LOOKS {
            return None;
        }
        *self = Self {
            is_up,
            looks_against: 0,
        };
        Some(is_up)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_counts_when_it_lasts() {
        let mut steady = Steady::default();
        let mut told = Vec::new();
        for (is_up, looks) in [
            (false, LOOKS - 1),
            (true, 1),
            (false, LOOKS),
            (false, 2 * LOOKS),
            (true, LOOKS - 1),
            (false, 1),
            (true, LOOKS + 1),
        ] {
            let changes = (0..looks).filter_map(|_| steady.look(is_up));
            told.push(changes.collect::<Vec<_>>());
        }
        let none = Vec::new;
        assert_eq!(
            told,
            [
                none(),
                none(),
                vec![false],
                none(),
                none(),
                none(),
                vec![true]
            ]
        );
    }
}
