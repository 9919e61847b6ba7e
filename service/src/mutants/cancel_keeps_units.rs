use std::borrow::Cow;

use super::{Mutant, reworded};
use crate::parts::Parts;
use crate::stock::scripts::RELEASE;

pub const MUTANT: Mutant = Mutant {
    name: "cancel-keeps-units",
    breaks: "The units of a cancelled order come back in MySQL and not in Redis.",
    kind: "K07",
    control: "BZ-6",
    part: "release.lua",
    parts: &CancelKeepsUnits,
};

struct CancelKeepsUnits;

impl Parts for CancelKeepsUnits {
    fn script(&self, text: &'static str) -> Cow<'static, str> {
        reworded(text, RELEASE, "if state ~= 'reserved' then", "if true then")
    }
}
