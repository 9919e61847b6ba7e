use std::borrow::Cow;

use super::{Mutant, reworded};
use crate::parts::Parts;
use crate::stock::scripts::RESERVE;

pub const MUTANT: Mutant = Mutant {
    name: "one-unit-too-many",
    breaks: "The last unit of each SKU is granted twice: the stock is compared with one unit too few.",
    kind: "K04",
    control: "RD-1",
    part: "reserve.lua",
    parts: &OneUnitTooMany,
};

struct OneUnitTooMany;

impl Parts for OneUnitTooMany {
    fn script(&self, text: &'static str) -> Cow<'static, str> {
        reworded(
            text,
            RESERVE,
            "if available < quantity then",
            "if available < quantity - 1 then",
        )
    }
}
