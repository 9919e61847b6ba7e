//! The journeys against real HTTP servers on loopback: what buyers send, how it is recorded, how journeys
//! end; and what the judge makes of a run folder that has them.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod ends;
#[path = "../http/mod.rs"]
mod http;
mod judging;
#[path = "../plan/mod.rs"]
mod plan;
#[allow(dead_code, reason = "the load's tests use more of it")]
#[path = "../load/script.rs"]
mod script;
mod shop;
mod trip;
