use super::Mutant;
use crate::parts::Parts;
use crate::sale::order::OrderMessage;
use crate::store::Delivery;

pub const MUTANT: Mutant = Mutant {
    name: "retry-not-idempotent",
    breaks: "A transaction that is tried again takes all its units, whatever the first try has committed.",
    kind: "K27",
    control: "DB-5",
    part: "applying step",
    parts: &RetryNotIdempotent,
};

struct RetryNotIdempotent;

impl Parts for RetryNotIdempotent {
    fn takers<'a, 'm>(&self, delivery: Delivery<'a, 'm>) -> &'a [&'m OrderMessage] {
        match delivery.tries {
            1 => delivery.stored,
            _ => delivery.all,
        }
    }
}
