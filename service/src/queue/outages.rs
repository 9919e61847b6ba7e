//! Tells when orders cannot be sent any more, whatever the queue is.

use std::sync::Arc;
use std::time::Duration;

use super::OrderQueue;
use crate::operations::alerts::{Alerts, Trouble};

const LOOK_INTERVAL: Duration = Duration::from_millis(200);

/// So many looks in a row must say the same, a second: a client that is being replaced is no outage.
const LOOKS: u32 = 5;

/// Runs until the task is aborted.
pub async fn tell_outages(queue: Arc<dyn OrderQueue>, alerts: Alerts) {
    let mut steady = Steady::default();
    loop {
        match steady.look(queue.is_connected()) {
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
        let looks = "ddddu dddddd uuuu d uuuuu u".replace(' ', "");
        let mut steady = Steady::default();
        let changes: Vec<_> = looks
            .bytes()
            .enumerate()
            .filter_map(|(at, look)| Some((at, steady.look(look == b'u')?)))
            .collect();
        assert_eq!(changes, [(9, false), (20, true)]);
    }
}
