use super::Mutant;
use crate::parts::Parts;

pub const MUTANT: Mutant = Mutant {
    name: "asks-redis-every-time",
    breaks: "No node remembers that a SKU is sold out: Redis is asked for every buyer.",
    kind: "K09",
    control: "AP-4",
    part: "sold-out marks",
    parts: &AsksRedisEveryTime,
};

struct AsksRedisEveryTime;

impl Parts for AsksRedisEveryTime {
    fn remembers_sold_out(&self) -> bool {
        false
    }
}
