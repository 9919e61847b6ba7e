use std::borrow::Cow;

use super::{Mutant, reworded};
use crate::parts::Parts;
use crate::stock::scripts::RESERVE;

pub const MUTANT: Mutant = Mutant {
    name: "undeclared-keys",
    breaks: "The reserve script also reads a key that it did not declare, which is in another slot.",
    kind: "K40",
    control: "RD-1",
    part: "reserve.lua",
    parts: &UndeclaredKeys,
};

struct UndeclaredKeys;

impl Parts for UndeclaredKeys {
    fn script(&self, text: &'static str) -> Cow<'static, str> {
        reworded(
            text,
            RESERVE,
            "local reply = { available }",
            "redis.call('GET', 'fs:limits')\nredis.call('GET', 'fs:blacklist')\nredis.call('GET', 'fs:whitelist')\nlocal reply = { available }",
        )
    }
}
