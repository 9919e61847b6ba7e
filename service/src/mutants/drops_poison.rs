use super::Mutant;
use crate::parts::{Parts, Poison};

pub const MUTANT: Mutant = Mutant {
    name: "drops-poison",
    breaks: "An order that MySQL cannot store is dropped instead of parked.",
    kind: "K18",
    control: "MQ-10",
    part: "dead letters",
    parts: &DropsPoison,
};

struct DropsPoison;

impl Parts for DropsPoison {
    fn poison(&self) -> Poison {
        Poison::Dropped
    }
}
