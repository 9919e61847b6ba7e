//! The order as it travels: its id, its message, and what a reservation can answer.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::stock::keys::slot_of_sku;

/// Namespace of the order ids: fixed for ever, or the same request would get two ids.
const ORDER_ID_NAMESPACE: Uuid = Uuid::from_u128(0x6f1d_58a6_2c0e_5b0f_9a3e_7d41_90c2_b8e4);

/// Id of an order: UUID v5 of (sale, SKU, user, request id), so that the same request has the same
/// id on every node, before and after any crash. Its first 16 bits are the hash slot of its SKU instead, so that
/// every node finds the ledger that knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OrderId(Uuid);

impl OrderId {
    /// The parts are joined by NUL, which none of them may contain (the gateway checks).
    #[must_use]
    pub fn derive(sale: &str, sku: &str, user: &str, request_id: &str) -> Self {
        let mut name =
            Vec::with_capacity(sale.len() + sku.len() + user.len() + request_id.len() + 3);
        for (index, part) in [sale, sku, user, request_id].into_iter().enumerate() {
            if index > 0 {
                name.push(0);
            }
            name.extend_from_slice(part.as_bytes());
        }
        let mut id = Uuid::new_v5(&ORDER_ID_NAMESPACE, &name).into_bytes();
        id[..2].copy_from_slice(&slot_of_sku(sale, sku).to_be_bytes());
        Self(Uuid::from_bytes(id))
    }

    /// Hash slot of its SKU's keys.
    #[must_use]
    pub fn slot(self) -> u16 {
        let [high, low, ..] = *self.0.as_bytes();
        u16::from_be_bytes([high, low])
    }

    /// Reads the 32 hexadecimal digits that `Display` writes; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let plain =
            text.len() == 32 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if !plain {
            return None;
        }
        Uuid::try_parse(text).ok().map(Self)
    }
}

impl std::fmt::Display for OrderId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0.simple())
    }
}

/// An accepted order on its way from the reservation to MySQL; as JSON it is the message body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderMessage {
    pub order_id: String,
    pub sale: String,
    pub sku: String,
    pub user: String,
    pub quantity: u32,
    pub request_id: String,
    /// When the gateway accepted the request, Unix time.
    pub at_ms: u64,
}

impl OrderMessage {
    /// The body of a message that carries it.
    #[must_use]
    pub fn body(&self) -> String {
        // Texts and numbers only: nothing in it can fail to become JSON.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Outcome of a reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reserved {
    /// Units are held; `remaining` are left for others.
    Granted {
        remaining: i64,
    },
    /// The ledger already knows the order: reserved or released before.
    Duplicate,
    SoldOut,
    LimitReached,
    NotStarted,
    Ended,
    /// The gate is closed, or was rebuilt since the request was sent.
    Closed,
    UnknownSku,
    /// An earlier attempt of this order id was settled as refused.
    Refused,
    /// The request was sent and its answer lost: it may have been carried out.
    Unknown,
    /// The request was not carried out: not sent, or refused by a server that changes nothing then.
    Unavailable,
}

impl Reserved {
    #[must_use]
    pub fn is_granted(&self) -> bool {
        matches!(self, Self::Granted { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_stable_and_every_part_counts() {
        let id = OrderId::derive("sale", "sku", "user", "request");
        // Written down: a changed namespace or separator would break every stored order.
        assert_eq!(id.to_string(), "218a8dc0ae645aa0b58932670d0c7d58");
        assert_eq!(id.slot(), slot_of_sku("sale", "sku"));
        let others = [
            OrderId::derive("sale2", "sku", "user", "request"),
            OrderId::derive("sale", "sku2", "user", "request"),
            OrderId::derive("sale", "sku", "user2", "request"),
            OrderId::derive("sale", "sku", "user", "request2"),
            OrderId::derive("sales", "ku", "user", "request"),
        ];
        for other in others {
            assert_ne!(id, other);
        }
    }

    #[test]
    fn only_what_display_writes_is_read_back() {
        let id = OrderId::derive("a", "b", "c", "d");
        assert_eq!(OrderId::parse(&id.to_string()), Some(id));
        for text in [
            "",
            "x",
            "6F1D58A62C0E5B0F9A3E7D4190C2B8E4",
            "6f1d58a6-2c0e-5b0f-9a3e-7d4190c2b8e4",
        ] {
            assert_eq!(OrderId::parse(text), None, "{text}");
        }
    }
}
