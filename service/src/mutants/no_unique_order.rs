use super::Mutant;
use crate::parts::Parts;

pub const MUTANT: Mutant = Mutant {
    name: "no-unique-order",
    breaks: "MySQL stores a second live order of a user and SKU beside the first.",
    kind: "K08",
    control: "DB-6",
    part: "applying step",
    parts: &NoUniqueOrder,
};

struct NoUniqueOrder;

impl Parts for NoUniqueOrder {
    fn live_key(&self) -> Option<u8> {
        None
    }
}
