//! One record of a history with names in place of numbers, for people and other programs.

use serde::Serialize;

use super::final_state::OrderState;
use super::operation::{Operation, OperationKind, Outcome};
use crate::load::population::{request_id, user_id};

/// Keys of JSON lines and columns of CSV. Times are nanoseconds since the run's first arrival.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line<'h> {
    /// `load`, `journeys` or `last_call`.
    pub part: &'static str,
    pub index: u64,
    pub kind: OperationKind,
    /// Attempts with the same key are clicks of one purchase.
    pub key: u64,
    pub request_id: String,
    pub user: String,
    pub sku: &'h str,
    pub quantity: u32,
    /// Clicks of this buyer before it.
    pub attempt: u8,
    pub node: u8,
    pub fault_epoch: u16,
    pub intended_ns: u64,
    pub sent_ns: u64,
    pub completed_ns: u64,
    pub outcome: Outcome,
    pub reason: &'h str,
    /// HTTP status; 0: there was no answer.
    pub status: u16,
    /// State of the order that the answer told.
    pub told: Option<OrderState>,
    pub order_id: Option<&'h str>,
}

impl<'h> Line<'h> {
    /// `sku` and `reason` are the names of the operation's.
    pub fn new(
        part: &'static str,
        seed: u64,
        one: &'h Operation,
        sku: &'h str,
        reason: &'h str,
    ) -> Self {
        Self {
            part,
            index: one.index,
            kind: one.kind,
            key: one.key,
            request_id: request_id(seed, one.key),
            user: user_id(one.user),
            sku,
            quantity: one.quantity,
            attempt: one.attempt,
            node: one.node,
            fault_epoch: one.fault_epoch,
            intended_ns: one.intended_ns,
            sent_ns: one.sent_ns,
            completed_ns: one.completed_ns,
            outcome: one.outcome,
            reason,
            status: one.status,
            told: one.told,
            order_id: one.order_id.as_deref(),
        }
    }
}
