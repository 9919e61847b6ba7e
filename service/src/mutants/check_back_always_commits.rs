use super::Mutant;
use crate::parts::Parts;
use crate::queue::Decision;

pub const MUTANT: Mutant = Mutant {
    name: "check-back-always-commits",
    breaks: "Every check-back is answered with a commit, whatever the ledger says.",
    kind: "K21",
    control: "MQ-1",
    part: "check-back",
    parts: &CheckBackAlwaysCommits,
};

struct CheckBackAlwaysCommits;

impl Parts for CheckBackAlwaysCommits {
    fn check_back(&self) -> Option<Decision> {
        Some(Decision::Commit)
    }
}
