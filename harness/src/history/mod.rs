//! What happened: the log of every operation, and what the stores held at the end.

pub mod final_state;
pub mod operation;
