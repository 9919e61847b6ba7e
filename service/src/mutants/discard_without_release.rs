use super::Mutant;
use crate::parts::Parts;
use crate::store::reason;

pub const MUTANT: Mutant = Mutant {
    name: "discard-without-release",
    breaks: "An order that is given up keeps its units and its buyer's right.",
    kind: "K07",
    control: "MQ-10",
    part: "dead letters",
    parts: &DiscardWithoutRelease,
};

struct DiscardWithoutRelease;

impl Parts for DiscardWithoutRelease {
    fn releases(&self, rejected_for: &str) -> bool {
        rejected_for != reason::DISCARDED
    }
}
