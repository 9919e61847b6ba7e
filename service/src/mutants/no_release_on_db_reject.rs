use super::Mutant;
use crate::parts::Parts;
use crate::store::reason;

pub const MUTANT: Mutant = Mutant {
    name: "no-release-on-db-reject",
    breaks: "What Redis has granted stays granted there when MySQL rejects the order.",
    kind: "K07",
    control: "DB-4",
    part: "applying step",
    parts: &NoReleaseOnDbReject,
};

struct NoReleaseOnDbReject;

impl Parts for NoReleaseOnDbReject {
    fn releases(&self, rejected_for: &str) -> bool {
        ![reason::STOCK_EXHAUSTED, reason::LIMIT_EXCEEDED].contains(&rejected_for)
    }
}
