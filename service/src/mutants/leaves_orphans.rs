use super::Mutant;
use crate::parts::Parts;

pub const MUTANT: Mutant = Mutant {
    name: "leaves-orphans",
    breaks: "What a dead gateway has reserved and not written stays reserved.",
    kind: "K07",
    control: "MQ-2",
    part: "outbox",
    parts: &LeavesOrphans,
};

struct LeavesOrphans;

impl Parts for LeavesOrphans {
    fn adopts(&self) -> bool {
        false
    }
}
