//! One file per command.

pub mod clean;
pub mod up;
