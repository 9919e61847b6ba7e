use std::borrow::Cow;

use super::{Mutant, reworded};
use crate::parts::Parts;
use crate::store::WRITE_VERSION;

pub const MUTANT: Mutant = Mutant {
    name: "version-not-checked",
    breaks: "The stock that was read is written back less the units, whoever has changed it since.",
    kind: "K01",
    control: "DB-3",
    part: "SQL",
    parts: &VersionNotChecked,
};

struct VersionNotChecked;

impl Parts for VersionNotChecked {
    fn statement(&self, text: &'static str) -> Cow<'static, str> {
        reworded(text, WRITE_VERSION, "version = ?", "(version = ? OR TRUE)")
    }
}
