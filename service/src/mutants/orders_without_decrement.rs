use super::Mutant;
use crate::parts::Parts;
use crate::sale::order::OrderMessage;
use crate::store::Delivery;

pub const MUTANT: Mutant = Mutant {
    name: "orders-without-decrement",
    breaks: "Orders are stored, and the stock in MySQL is not decremented.",
    kind: "K48",
    control: "DB-1",
    part: "applying step",
    parts: &OrdersWithoutDecrement,
};

struct OrdersWithoutDecrement;

impl Parts for OrdersWithoutDecrement {
    fn takers<'a, 'm>(&self, _delivery: Delivery<'a, 'm>) -> &'a [&'m OrderMessage] {
        &[]
    }
}
