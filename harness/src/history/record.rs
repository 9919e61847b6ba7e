//! One operation as bytes: a fixed record of 64 bytes, then the text of the order id if there is one.
//!
//! | bytes | field | | bytes | field |
//! |---|---|---|---|---|
//! | 0..8 | key | | 44..48 | quantity |
//! | 8..16 | intended, ns | | 48..54 | index |
//! | 16..24 | sent, ns | | 54..60 | user |
//! | 24..32 | completed, ns | | 60 | attempt |
//! | 32..34 | reason | | 61 | node |
//! | 34..36 | HTTP status | | 62 | kind |
//! | 36..38 | length of the order id | | 63 | low half: outcome; high half: state told, 0 none |
//! | 38..40 | fault epoch | | 64.. | order id, UTF-8 |
//! | 40..44 | SKU | | | |
//!
//! Numbers are little endian. Raise [`super::header::VERSION`] with every change.

use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::final_state::OrderState;
use super::operation::{Operation, OperationKind, Outcome};

/// Operations of a history are written in the order they completed.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct Record {
    key: U64,
    intended_ns: U64,
    sent_ns: U64,
    completed_ns: U64,
    reason: U16,
    status: U16,
    order_id_len: U16,
    fault_epoch: U16,
    sku: U32,
    quantity: U32,
    index: Six,
    user: Six,
    attempt: u8,
    node: u8,
    kind: u8,
    outcome_and_told: u8,
}

const _: () = assert!(size_of::<Record>() == 64);

/// A number below 2^48.
type Six = [u8; 6];

const TOLD: [OrderState; 5] = [
    OrderState::Created,
    OrderState::Paid,
    OrderState::Cancelled,
    OrderState::Expired,
    OrderState::Rejected,
];

/// Appends an operation. An order id longer than 64 KiB is left out.
pub fn encode(operation: &Operation, order_id: Option<&str>, out: &mut Vec<u8>) {
    let order_id = order_id.unwrap_or_default();
    let order_id_len = u16::try_from(order_id.len()).unwrap_or(0);
    let record = Record {
        key: operation.key.into(),
        intended_ns: operation.intended_ns.into(),
        sent_ns: operation.sent_ns.into(),
        completed_ns: operation.completed_ns.into(),
        reason: operation.reason.into(),
        status: operation.status.into(),
        order_id_len: order_id_len.into(),
        fault_epoch: operation.fault_epoch.into(),
        sku: operation.sku.into(),
        quantity: operation.quantity.into(),
        index: six(operation.index),
        user: six(operation.user),
        attempt: operation.attempt,
        node: operation.node,
        kind: operation.kind as u8,
        outcome_and_told: operation.outcome as u8 | told_number(operation.told) << 4,
    };
    out.extend_from_slice(record.as_bytes());
    out.extend_from_slice(&order_id.as_bytes()[..usize::from(order_id_len)]);
}

/// Takes the operation at the start of `bytes` and gives what is left; None: it is not one.
pub fn decode(bytes: &[u8]) -> Option<(Operation, &[u8])> {
    let (record, rest) = Record::ref_from_prefix(bytes).ok()?;
    let (order_id, rest) = rest.split_at_checked(usize::from(record.order_id_len.get()))?;
    let order_id = std::str::from_utf8(order_id).ok()?;
    let operation = Operation {
        index: number(record.index),
        kind: kind(record.kind)?,
        key: record.key.get(),
        user: number(record.user),
        sku: record.sku.get(),
        quantity: record.quantity.get(),
        attempt: record.attempt,
        node: record.node,
        fault_epoch: record.fault_epoch.get(),
        intended_ns: record.intended_ns.get(),
        sent_ns: record.sent_ns.get(),
        completed_ns: record.completed_ns.get(),
        outcome: outcome(record.outcome_and_told & 0xf)?,
        reason: record.reason.get(),
        status: record.status.get(),
        told: told(record.outcome_and_told >> 4)?,
        order_id: (!order_id.is_empty()).then(|| order_id.into()),
    };
    Some((operation, rest))
}

fn six(number: u64) -> Six {
    let [a, b, c, d, e, f, ..] = number.to_le_bytes();
    [a, b, c, d, e, f]
}

fn number([a, b, c, d, e, f]: Six) -> u64 {
    u64::from_le_bytes([a, b, c, d, e, f, 0, 0])
}

fn kind(byte: u8) -> Option<OperationKind> {
    use OperationKind::{Buy, Cancel, Pay, Status};
    [Buy, Status, Pay, Cancel]
        .into_iter()
        .find(|kind| *kind as u8 == byte)
}

fn outcome(byte: u8) -> Option<Outcome> {
    use Outcome::{Accepted, Refused, Unknown};
    [Accepted, Refused, Unknown]
        .into_iter()
        .find(|outcome| *outcome as u8 == byte)
}

fn told_number(told: Option<OrderState>) -> u8 {
    let place = TOLD.iter().position(|state| Some(*state) == told);
    place.map_or(0, |place| place as u8 + 1)
}

/// The outer None: there is no such number.
fn told(number: u8) -> Option<Option<OrderState>> {
    match number.checked_sub(1) {
        None => Some(None),
        Some(place) => TOLD.get(usize::from(place)).copied().map(Some),
    }
}
