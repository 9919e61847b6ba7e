use super::Mutant;
use crate::parts::Parts;
use crate::store::Shards;

pub const MUTANT: Mutant = Mutant {
    name: "wrong-shard",
    breaks: "Units of a cancelled order are given back to the table of another SKU.",
    kind: "K48",
    control: "DB-2",
    part: "routing",
    parts: &WrongShard,
};

struct WrongShard;

impl Parts for WrongShard {
    /// As if somebody had worked out the table by the SKU's name alone.
    fn returned_to(&self, shards: Shards, _sale: &str, sku: &str) -> String {
        shards.table("", sku)
    }
}
