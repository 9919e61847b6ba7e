use super::Mutant;
use crate::parts::Parts;
use crate::queue::Decision;

pub const MUTANT: Mutant = Mutant {
    name: "check-back-always-rolls-back",
    breaks: "Every check-back is answered with a roll-back, whatever the ledger says.",
    kind: "K21",
    control: "MQ-1",
    part: "check-back",
    parts: &CheckBackAlwaysRollsBack,
};

struct CheckBackAlwaysRollsBack;

impl Parts for CheckBackAlwaysRollsBack {
    fn check_back(&self) -> Option<Decision> {
        Some(Decision::RollBack)
    }
}
