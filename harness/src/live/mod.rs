//! A stack that is broken by hand: `flashdrill up` keeps it and carries out what `fault inject` and `fault heal` ask
//! for, over a Unix socket in the run's scratch folder (which only its owner may enter).
//!
//! Owns the faults of the moment. A fault goes through the same steps as in a drill; only its end is told from outside.

mod board;
mod client;
mod control;

pub use board::{Board, LiveFault};
pub use client::{Client, ClientError};
pub use control::{Control, serve};

/// Name of the socket in the scratch folder.
const SOCKET: &str = "control.sock";
