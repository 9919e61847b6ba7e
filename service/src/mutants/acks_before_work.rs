use super::Mutant;
use crate::parts::Parts;
use crate::queue::QueuePath;

pub const MUTANT: Mutant = Mutant {
    name: "acks-before-work",
    breaks: "The messages of a stream are acknowledged before they are applied.",
    kind: "K17",
    control: "MQ-3",
    part: "stream",
    parts: &AcksBeforeWork,
};

struct AcksBeforeWork;

impl Parts for AcksBeforeWork {
    fn finishes_first(&self, path: QueuePath) -> bool {
        path == QueuePath::Stream
    }
}
