//! What one poll has brought.

use std::collections::HashMap;

use rocketmq_model::common::message::message_ext::MessageExt;
use rocketmq_model::common::message::message_queue::MessageQueue;

use crate::queue::applier::Unreadable;
use crate::queue::bundle;
use crate::sale::order::OrderMessage;
use crate::store::check_storable;

/// Messages, opened.
#[derive(Default)]
pub(super) struct Polled {
    pub orders: Vec<OrderMessage>,
    /// What is no order, or fits no row.
    pub unreadable: Vec<Unreadable>,
    /// The next offset of each queue after these messages.
    pub next: HashMap<MessageQueue, i64>,
}

impl Polled {
    pub fn add(&mut self, message: &MessageExt) {
        let queue = MessageQueue::from_parts(
            message.topic().as_str(),
            message.broker_name(),
            message.queue_id(),
        );
        let next = self.next.entry(queue).or_insert(0);
        *next = (*next).max(message.queue_offset() + 1);
        let body = message.body().unwrap_or_default();
        match bundle::read(&body) {
            Ok(orders) => orders.into_iter().for_each(|order| self.add_order(order)),
            Err(error) => self.give_up(&String::from_utf8_lossy(&body), &error.to_string()),
        }
    }

    fn add_order(&mut self, order: OrderMessage) {
        match check_storable(&order) {
            Ok(()) => self.orders.push(order),
            Err(reason) => self.give_up(&order.body(), reason),
        }
    }

    fn give_up(&mut self, body: &str, reason: &str) {
        tracing::error!(reason, body, "message is not an order");
        self.unreadable.push(Unreadable {
            body: body.to_owned(),
            reason: reason.to_owned(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(queue: i32, offset: i64, body: String) -> MessageExt {
        let mut message = MessageExt::default();
        message.set_queue_id(queue);
        message.set_queue_offset(offset);
        message.set_body(Some(body.into()));
        message
    }

    fn order(user: &str) -> OrderMessage {
        OrderMessage {
            order_id: "0".repeat(32),
            sale: "s".to_owned(),
            sku: "k".to_owned(),
            user: user.to_owned(),
            quantity: 1,
            request_id: "r".to_owned(),
            at_ms: 1,
        }
    }

    #[test]
    fn an_order_that_cannot_be_stored_does_not_take_its_bundle_with_it() {
        let mut polled = Polled::default();
        polled.add(&message(
            0,
            7,
            bundle::body(&[order("a"), order(&"x".repeat(500))]),
        ));
        polled.add(&message(0, 6, "nonsense".to_owned()));
        polled.add(&message(1, 0, bundle::body(&[order("b")])));
        let users: Vec<&str> = polled.orders.iter().map(|one| one.user.as_str()).collect();
        assert_eq!(users, ["a", "b"]);
        let parked: Vec<&str> = polled
            .unreadable
            .iter()
            .map(|one| one.body.as_str())
            .collect();
        assert_eq!(
            parked,
            [order(&"x".repeat(500)).body().as_str(), "nonsense"]
        );
        let mut next: Vec<i64> = polled.next.into_values().collect();
        next.sort_unstable();
        assert_eq!(next, [1, 8]);
    }
}
