//! The service's parts on real servers. One program, so that all share a MariaDB and are linked once.
#![recursion_limit = "256"] // The RocketMQ client's futures are deeply nested.
#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod accounts;
mod applier;
mod dead_letters;
mod doubt;
mod lanes;
mod nodes;
mod outbox;
mod replica;
mod rocketmq;
mod scripts;
mod shop;
mod stock;
mod store;
mod stream;
mod support;
mod top_up;
