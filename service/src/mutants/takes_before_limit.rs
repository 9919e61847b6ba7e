use std::borrow::Cow;

use super::{Mutant, reworded};
use crate::parts::Parts;
use crate::stock::scripts::RESERVE;

pub const MUTANT: Mutant = Mutant {
    name: "takes-before-limit",
    breaks: "Stock is taken before the limit is looked at, and not given back to a buyer who is over it.",
    kind: "K05",
    control: "RD-2",
    part: "reserve.lua",
    parts: &TakesBeforeLimit,
};

struct TakesBeforeLimit;

impl Parts for TakesBeforeLimit {
    fn script(&self, text: &'static str) -> Cow<'static, str> {
        reworded(
            text,
            RESERVE,
            "then return 'limit_reached' end",
            "then\n    if available > 0 then available = available - quantity end\n    return 'limit_reached'\n  end",
        )
    }
}
