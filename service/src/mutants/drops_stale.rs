use super::Mutant;
use crate::parts::Parts;

pub const MUTANT: Mutant = Mutant {
    name: "drops-stale",
    breaks: "A message that came too late is dropped, and its units stay reserved.",
    kind: "K07",
    control: "MQ-7",
    part: "consumer",
    parts: &DropsStale,
};

struct DropsStale;

impl Parts for DropsStale {
    fn rejects_stale(&self) -> bool {
        false
    }
}
