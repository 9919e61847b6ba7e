//! A drill: the file as written, the plan as resolved, and the run that joins the stages.

pub mod catalogue;
pub mod clean_room;
pub mod file;
pub mod fit;
pub mod folder;
pub mod judge;
pub mod last_call;
pub mod narrate;
pub mod plan;
pub mod prepare;
pub mod problems;
mod queue;
pub mod range;
pub mod resolve;
pub mod run;
pub mod sell;
pub mod top_up;
pub mod watch;
