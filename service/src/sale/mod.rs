//! The sale flow; here only what the store and the queue share with it.

pub mod order;
