use super::Mutant;
use crate::parts::Parts;

pub const MUTANT: Mutant = Mutant {
    name: "unbounded-accept",
    breaks: "Buyers are let in however many orders wait to be applied.",
    kind: "K19",
    control: "MQ-12",
    part: "back-pressure",
    parts: &UnboundedAccept,
};

struct UnboundedAccept;

impl Parts for UnboundedAccept {
    fn backlog_max(&self, _own: u64) -> u64 {
        u64::MAX
    }
}
