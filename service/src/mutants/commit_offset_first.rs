use super::Mutant;
use crate::parts::Parts;
use crate::queue::QueuePath;

pub const MUTANT: Mutant = Mutant {
    name: "commit-offset-first",
    breaks: "The consumer commits its offsets before it has applied the messages.",
    kind: "K17",
    control: "MQ-11",
    part: "consumer",
    parts: &CommitOffsetFirst,
};

struct CommitOffsetFirst;

impl Parts for CommitOffsetFirst {
    fn finishes_first(&self, path: QueuePath) -> bool {
        path == QueuePath::RocketMq
    }
}
