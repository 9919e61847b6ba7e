//! A drill: the file as written, the plan as resolved, and the run that joins the stages.

pub mod plan;
