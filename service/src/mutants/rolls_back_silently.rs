use super::Mutant;
use crate::parts::Parts;

pub const MUTANT: Mutant = Mutant {
    name: "rolls-back-silently",
    breaks: "Check-back rolls an order back that was never reserved, and nobody stores that: whoever was told that it is \
             queued never hears of it again.",
    kind: "K22",
    control: "MQ-1",
    part: "check-back",
    parts: &RollsBackSilently,
};

struct RollsBackSilently;

impl Parts for RollsBackSilently {
    fn stores_rejections(&self) -> bool {
        false
    }
}
