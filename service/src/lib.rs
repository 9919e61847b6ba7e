//! `flashsale`: sells limited stock without overselling.
#![recursion_limit = "256"] // The RocketMQ client's futures are deeply nested.

pub mod base;
pub mod failpoints;
pub mod gateway;
#[cfg(feature = "mutants")]
pub mod mutants;
pub mod operations;
pub mod parts;
pub mod queue;
pub mod reconcile;
pub mod sale;
pub mod service;
pub mod settings;
pub mod stock;
pub mod store;
