use std::borrow::Cow;

use super::{Mutant, reworded};
use crate::parts::Parts;
use crate::stock::scripts::RELEASE;

pub const MUTANT: Mutant = Mutant {
    name: "releases-twice",
    breaks: "The units of a cancelled order are given back twice in Redis.",
    kind: "K25",
    control: "BZ-6",
    part: "release.lua",
    parts: &ReleasesTwice,
};

struct ReleasesTwice;

impl Parts for ReleasesTwice {
    fn script(&self, text: &'static str) -> Cow<'static, str> {
        reworded(
            text,
            RELEASE,
            "'available', available + quantity)",
            "'available', available + 2 * quantity)",
        )
    }
}
