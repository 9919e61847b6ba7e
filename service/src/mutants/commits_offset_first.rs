use super::Mutant;
use crate::parts::{Commit, Parts};

pub const MUTANT: Mutant = Mutant {
    name: "commits-offset-first",
    breaks: "The offsets of a poll are committed before its orders are applied.",
    kind: "K17",
    control: "MQ-11",
    part: "offsets",
    parts: &CommitsOffsetFirst,
};

struct CommitsOffsetFirst;

impl Parts for CommitsOffsetFirst {
    fn commit(&self) -> Commit {
        Commit::BeforeApplying
    }
}
