//! One operation as bytes: a fixed record of 64 bytes, then the text of the order id if there is one.

use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::operation::{Operation, OperationKind, Outcome};

/// Operations of a history are written in the order they completed.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct Record {
    index: U64,
    key: U64,
    user: U64,
    intended_ns: U64,
    sent_ns: U64,
    completed_ns: U64,
    sku: U32,
    quantity: U32,
    reason: U16,
    status: U16,
    order_id_len: U16,
    kind: u8,
    outcome: u8,
}

const _: () = assert!(size_of::<Record>() == 64);

/// Appends an operation. An order id longer than 64 KiB is left out.
pub fn encode(operation: &Operation, order_id: Option<&str>, out: &mut Vec<u8>) {
    let order_id = order_id.unwrap_or_default();
    let order_id_len = u16::try_from(order_id.len()).unwrap_or(0);
    let record = Record {
        index: operation.index.into(),
        key: operation.key.into(),
        user: operation.user.into(),
        intended_ns: operation.intended_ns.into(),
        sent_ns: operation.sent_ns.into(),
        completed_ns: operation.completed_ns.into(),
        sku: operation.sku.into(),
        quantity: operation.quantity.into(),
        reason: operation.reason.into(),
        status: operation.status.into(),
        order_id_len: order_id_len.into(),
        kind: operation.kind as u8,
        outcome: operation.outcome as u8,
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
        index: record.index.get(),
        kind: kind(record.kind)?,
        key: record.key.get(),
        user: record.user.get(),
        sku: record.sku.get(),
        quantity: record.quantity.get(),
        intended_ns: record.intended_ns.get(),
        sent_ns: record.sent_ns.get(),
        completed_ns: record.completed_ns.get(),
        outcome: outcome(record.outcome)?,
        reason: record.reason.get(),
        status: record.status.get(),
        order_id: (!order_id.is_empty()).then(|| order_id.into()),
    };
    Some((operation, rest))
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
