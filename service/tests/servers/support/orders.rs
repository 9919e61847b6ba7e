//! Orders as a queue delivers them.

use flashsale::sale::order::OrderMessage;

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
