use super::Mutant;
use crate::parts::Parts;
use crate::sale::buy::Purchase;
use crate::sale::order::OrderId;

pub const MUTANT: Mutant = Mutant {
    name: "order-ids-collide",
    breaks: "The id of an order leaves out most of what makes it the buyer's own, so that two buyers can have the same.",
    kind: "K43",
    control: "BZ-8",
    part: "order id",
    parts: &OrderIdsCollide,
};

struct OrderIdsCollide;

impl Parts for OrderIdsCollide {
    fn order_id(&self, purchase: &Purchase<'_>, _derived: OrderId) -> OrderId {
        let Purchase {
            sale, sku, user, ..
        } = purchase;
        let last = user.len().saturating_sub(2);
        OrderId::derive(sale, sku, user.get(last..).unwrap_or_default(), "")
    }
}
