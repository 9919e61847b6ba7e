//! Pulls that are made again, so that a consumer gets the same messages twice.
//!
//! A repeated answer would do nothing: clients drop an answer that they do not wait for. So the consumer's next pull of
//! the queue is sent back to where the answered one began.

use std::collections::HashMap;

use super::super::cuts::{CutId, Cuts};
use super::fields;

/// Queues of one connection that wait for their next pull.
const REWINDS_MAX: usize = 1024;

/// One pull: a consumer group's place in a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pull {
    /// Group, topic and number of the queue.
    queue: [String; 3],
    offset: i64,
}

impl Pull {
    pub fn read(frame: &[u8]) -> Option<Self> {
        let queue = ["consumerGroup", "topic", "queueId"].map(|name| fields::get(frame, name));
        let [Some(group), Some(topic), Some(id)] = queue else {
            return None;
        };
        Some(Self {
            queue: [group, topic, id],
            offset: fields::get(frame, "queueOffset")?.parse().ok()?,
        })
    }
}

#[derive(Debug, Default)]
pub(super) struct Rewinds(HashMap<[String; 3], (i64, CutId)>);

impl Rewinds {
    /// The next pull of this one's queue is to begin where it began.
    pub fn add(&mut self, pull: Pull, id: CutId) {
        if self.0.len() < REWINDS_MAX {
            self.0.insert(pull.queue, (pull.offset, id));
        }
    }

    /// The changed frame of a pull that is to be made again.
    pub fn apply(&mut self, pull: &Pull, frame: &[u8], cuts: &Cuts) -> Option<Vec<u8>> {
        let (offset, id) = self.0.remove(&pull.queue)?;
        let rewound = fields::set(frame, "queueOffset", &offset.to_string())?;
        cuts.fired(id);
        Some(rewound)
    }
}
