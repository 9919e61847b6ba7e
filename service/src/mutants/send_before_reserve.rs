use super::Mutant;
use crate::parts::Parts;
use crate::queue::Decision;

pub const MUTANT: Mutant = Mutant {
    name: "send-before-reserve",
    breaks: "A message counts as soon as it is sent, whatever Redis says to its reservation afterwards.",
    kind: "K20",
    control: "MQ-1",
    part: "producer",
    parts: &SendBeforeReserve,
};

struct SendBeforeReserve;

impl Parts for SendBeforeReserve {
    fn settled(&self, _decided: Decision) -> Decision {
        Decision::Commit
    }

    fn check_back(&self) -> Option<Decision> {
        Some(Decision::Commit)
    }
}
