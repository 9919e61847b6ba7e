//! The load generator against real HTTP servers on loopback: what it sends, records and measures,
//! and that no misbehaviour of a server stops its schedule.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod answers;
#[path = "../http/mod.rs"]
mod http;
mod limits;
mod loops;
mod misbehaviour;
mod run;
mod script;
mod shop;
mod time;
mod tls;
