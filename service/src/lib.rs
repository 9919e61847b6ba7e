//! `flashsale`: sells limited stock without overselling.
#![recursion_limit = "256"] // The RocketMQ client's futures are deeply nested.

pub mod queue;
pub mod sale;
pub mod store;
