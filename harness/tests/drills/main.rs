//! The command itself on real servers: drills, their verdicts and proofs. One stack at a time.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up fails")]

mod catalogue;
mod command;
mod containers;
mod verdicts;
