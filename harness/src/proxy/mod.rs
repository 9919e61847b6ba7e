//! The built-in fault proxy: Toxiproxy's REST API over TCP links that can be delayed, black-holed or
//! closed, with live byte counters as evidence.
//!
//! Owns the listeners, the copy loops and the API, all on threads of its own. Knows nothing of what
//! flows through a link. Faults reach it by [`client::ProxyClient`] only, so that the real Toxiproxy
//! can stand in for it.

mod api;
pub mod client;
mod collection;
mod connection;
mod copy;
pub mod cut;
mod delay;
pub mod error;
mod link;
pub mod server;
pub mod toxic;
pub mod traffic;

pub use client::ProxyClient;
pub use error::ProxyError;
pub use server::ProxyServer;
