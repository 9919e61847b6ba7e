use super::Mutant;
use crate::parts::Parts;
use crate::sale::order::OrderMessage;

pub const MUTANT: Mutant = Mutant {
    name: "decrements-every-delivery",
    breaks: "Stock is decremented for every delivery of a message, the order stored once.",
    kind: "K16",
    control: "MQ-6",
    part: "applying step",
    parts: &DecrementsEveryDelivery,
};

struct DecrementsEveryDelivery;

impl Parts for DecrementsEveryDelivery {
    fn takers<'a, 'm>(
        &self,
        batch: &'a [&'m OrderMessage],
        _stored: &'a [&'m OrderMessage],
    ) -> &'a [&'m OrderMessage] {
        batch
    }
}
