//! Orders as a queue delivers them, and the rules of the sale that they are of.

use flashsale::queue::QueuePath;
use flashsale::sale::order::OrderMessage;
use flashsale::sale::sku::Rules;

/// One unit a user, at any time.
pub const ONE_EACH: Rules = Rules {
    limit_per_user: 1,
    starts_at_ms: 0,
    ends_at_ms: 0,
    queue: QueuePath::RocketMq,
};

/// The n-th order of a SKU, asked for at n ms; every one of another user.
pub fn order(sale: &str, sku: &str, n: u32) -> OrderMessage {
    OrderMessage {
        order_id: format!("{n:032x}"),
        sale: sale.to_owned(),
        sku: sku.to_owned(),
        user: format!("user-{n}"),
        quantity: 1,
        request_id: format!("request-{n}"),
        at_ms: u64::from(n),
    }
}
