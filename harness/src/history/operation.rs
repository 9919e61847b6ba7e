//! One attempt of one buyer, as the load generator saw it.

use clap::ValueEnum;
use serde::Serialize;

use super::final_state::OrderState;

/// What the buyer asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum OperationKind {
    Buy = 0,
    Status = 1,
    Pay = 2,
    Cancel = 3,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Outcome {
    /// The service accepted; an order id was given.
    Accepted = 0,
    /// The service refused: provably not applied.
    Refused = 1,
    /// Time-out, reset, half an answer, an answer that no rule maps: may have been applied, may still be.
    Unknown = 2,
}

/// One record per attempt, not per logical order. Times are nanoseconds since the first arrival.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// Place in the arrival schedule for buys; for follow-ups the index of the buy they follow; below 2^48.
    pub index: u64,
    pub kind: OperationKind,
    /// Idempotency key: attempts with the same key are clicks of one purchase. The request id sent
    /// is `load::population::request_id(seed, key)`.
    pub key: u64,
    /// The user sent is `load::population::user_id(user)`; below 2^48.
    pub user: u64,
    /// Index into the plan's SKUs.
    pub sku: u32,
    pub quantity: u32,
    /// How often this buyer, not served, had clicked before; 255 stands for more, 0 for what arrived by schedule.
    pub attempt: u8,
    /// The node it went to: its place among those that take buyers; 255 stands for more.
    pub node: u8,
    /// As of [`super::FaultEpoch`] when it was sent.
    pub fault_epoch: u16,
    pub intended_ns: u64,
    pub sent_ns: u64,
    pub completed_ns: u64,
    pub outcome: Outcome,
    /// Index into the history's table of reasons (refusals by the target's names, unknowns by
    /// `timeout`, `reset`, `bad_answer`, ...); 0 is the empty reason.
    pub reason: u16,
    /// HTTP status, 0 when there was none.
    pub status: u16,
    /// State of the order that the answer told; answers to buys tell none.
    pub told: Option<OrderState>,
    /// Given by accepted answers only.
    pub order_id: Option<Box<str>>,
}
