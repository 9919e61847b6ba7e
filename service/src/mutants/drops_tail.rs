use super::Mutant;
use crate::parts::Parts;
use crate::sale::order::OrderMessage;

pub const MUTANT: Mutant = Mutant {
    name: "drops-tail",
    breaks: "The last message of a poll of several is lost.",
    kind: "K18",
    control: "MQ-5",
    part: "consumer",
    parts: &DropsTail,
};

struct DropsTail;

impl Parts for DropsTail {
    fn polled(&self, mut orders: Vec<OrderMessage>) -> Vec<OrderMessage> {
        if orders.len() > 1 {
            orders.pop();
        }
        orders
    }
}
