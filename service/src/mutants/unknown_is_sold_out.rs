use super::Mutant;
use crate::parts::Parts;
use crate::queue::Submitted;
use crate::sale::order::Reserved;

pub const MUTANT: Mutant = Mutant {
    name: "unknown-is-sold-out",
    breaks: "A buyer whose reservation has an unknown outcome is told that everything is sold.",
    kind: "K22",
    control: "MQ-1",
    part: "answers",
    parts: &UnknownIsSoldOut,
};

struct UnknownIsSoldOut;

impl Parts for UnknownIsSoldOut {
    fn told(&self, submitted: Submitted) -> Submitted {
        match submitted {
            Submitted::Decided(Reserved::Unknown) => Submitted::Decided(Reserved::SoldOut),
            known => known,
        }
    }
}
