use super::Mutant;
use crate::parts::Parts;

pub const MUTANT: Mutant = Mutant {
    name: "top-up-mysql-only",
    breaks: "A top-up changes MySQL's stock, and Redis never learns of it.",
    kind: "K48",
    control: "DB-9",
    part: "top-up",
    parts: &TopUpMysqlOnly,
};

struct TopUpMysqlOnly;

impl Parts for TopUpMysqlOnly {
    /// As if the stock were one number in one place.
    fn brings_top_ups(&self) -> bool {
        false
    }
}
