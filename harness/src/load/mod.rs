//! The open-loop load: when requests arrive, who sends them, and what came back.

pub mod population;
pub mod schedule;
pub mod summary;
