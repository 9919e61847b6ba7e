use super::Mutant;
use crate::parts::Parts;
use crate::sale::order::OrderMessage;
use crate::store::Delivery;

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
    fn takers<'a, 'm>(&self, delivery: Delivery<'a, 'm>) -> &'a [&'m OrderMessage] {
        delivery.all
    }
}
