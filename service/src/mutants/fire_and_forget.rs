use super::Mutant;
use crate::parts::Parts;
use crate::queue::Submitted;
use crate::sale::order::Reserved;

pub const MUTANT: Mutant = Mutant {
    name: "fire-and-forget",
    breaks: "Nobody waits for the broker's acknowledgement: the buyer of an order that could not be sent is told that it \
             is queued.",
    kind: "K18",
    control: "MQ-8",
    part: "producer",
    parts: &FireAndForget,
};

struct FireAndForget;

impl Parts for FireAndForget {
    fn told(&self, submitted: Submitted) -> Submitted {
        match submitted {
            Submitted::QueueUnavailable => Submitted::Decided(Reserved::Unknown),
            known => known,
        }
    }
}
