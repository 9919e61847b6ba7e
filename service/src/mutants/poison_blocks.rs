use super::Mutant;
use crate::parts::{Parts, Poison};

pub const MUTANT: Mutant = Mutant {
    name: "poison-blocks",
    breaks: "An order that MySQL cannot store is offered again and again, and holds up all others.",
    kind: "K19",
    control: "MQ-3",
    part: "consumer",
    parts: &PoisonBlocks,
};

struct PoisonBlocks;

impl Parts for PoisonBlocks {
    fn poison(&self) -> Poison {
        Poison::OfferedAgain
    }
}
