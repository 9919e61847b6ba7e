//! A drill: the file as written, the plan as resolved, and the run that joins the stages.

pub mod file;
pub mod plan;
pub mod problems;
pub mod range;
pub mod resolve;
