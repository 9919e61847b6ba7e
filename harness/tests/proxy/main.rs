//! The built-in fault proxy from outside: its API, and what toxics do to real connections.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod api;
mod command;
mod cycles;
#[path = "../echo/mod.rs"]
mod echo;
mod fixture;
mod leases;
mod links;
mod ours;
mod seeds;
mod toxics;
