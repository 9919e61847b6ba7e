//! Orders that travel in one message.
//!
//! A message costs its broker and both of its clients about the same whether it carries one order or fifty, so whatever
//! has come while earlier messages were on their way goes into one.

use serde::Serialize;

use crate::sale::order::OrderMessage;

/// Orders of one message at most: the longest that are possible fit a `TEXT` of MySQL, 64 KiB.
pub const BUNDLE_MAX: usize = 100;

/// The message's body: the orders as a JSON array.
#[must_use]
pub fn body<O: Serialize>(orders: &[O]) -> String {
    // Texts and numbers only: nothing in it can fail to become JSON.
    serde_json::to_string(orders).unwrap_or_default()
}

/// Keys by which the broker's tools find the message: the ids of its orders.
pub fn keys<'a>(orders: impl IntoIterator<Item = &'a OrderMessage>) -> String {
    let ids: Vec<&str> = orders
        .into_iter()
        .map(|one| one.order_id.as_str())
        .collect();
    ids.join(" ")
}

/// The orders of a body. One that is no array is a single order, as messages were before they carried several.
///
/// # Errors
/// Why it is none.
pub fn read(body: &[u8]) -> Result<Vec<OrderMessage>, serde_json::Error> {
    if body.starts_with(b"[") {
        serde_json::from_slice(body)
    } else {
        serde_json::from_slice(body).map(|order| vec![order])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sale::buy::{NAME_MAX, TOKEN_MAX};

    fn order(length: impl Fn(usize) -> usize) -> OrderMessage {
        let text = |max| "x".repeat(length(max));
        OrderMessage {
            order_id: "0".repeat(32),
            sale: text(NAME_MAX),
            sku: text(NAME_MAX),
            user: text(TOKEN_MAX),
            quantity: u32::MAX,
            request_id: text(TOKEN_MAX),
            at_ms: u64::MAX,
        }
    }

    #[test]
    fn what_is_written_is_read_and_so_is_a_single_order() {
        let orders = vec![order(|_| 1), order(|_| 2)];
        assert_eq!(read(body(&orders).as_bytes()).unwrap(), orders);
        let single = serde_json::to_string(&orders[0]).unwrap();
        assert_eq!(read(single.as_bytes()).unwrap(), orders[..1]);
        for broken in ["", "[", "{}", "[{}]", "[1]", "null"] {
            assert!(read(broken.as_bytes()).is_err(), "{broken}");
        }
    }

    #[test]
    fn the_longest_orders_fit_a_text_of_mysql() {
        let longest = vec![order(|max| max); BUNDLE_MAX];
        assert!(body(&longest).len() < 1 << 16);
    }

    #[test]
    fn the_broker_finds_it_by_each_order() {
        let mut orders = [order(|_| 1), order(|_| 1)];
        orders[1].order_id = "1".repeat(32);
        let keys = keys(&orders);
        let found: Vec<&str> = keys.split(' ').collect();
        assert_eq!(found, ["0".repeat(32), "1".repeat(32)]);
    }
}
