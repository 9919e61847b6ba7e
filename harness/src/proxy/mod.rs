//! The built-in fault proxy: Toxiproxy's REST API over TCP links that can be delayed, stalled,
//! black-holed, reset or closed, with live byte counters as evidence.
//!
//! Owns the listeners, the copy loops and the API, all on a thread of its own. Only [`cut`] knows what
//! flows through a link. Faults reach it by [`client::ProxyClient`] only, so that the real Toxiproxy
//! can stand in for it.

mod address;
mod api;
mod blockade;
pub mod client;
mod collection;
mod connection;
mod copy;
pub mod cut;
mod dice;
mod effect;
pub mod error;
pub mod lease;
mod line;
mod link;
mod metrics;
mod queue;
mod roster;
pub mod server;
mod stages;
pub mod tap;
pub mod toxic;
pub mod traffic;

pub use client::{ProxyClient, ProxyKind};
pub use error::ProxyError;
pub use server::{ProxyOptions, ProxyServer};
