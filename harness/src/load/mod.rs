//! The open-loop load: when requests arrive, who sends them, and what came back.
//!
//! `schedule` and `population` say what is sent when, as pure functions; `engine` drives it through
//! the connections of the `pool`; the `desk` understands the answers and the `recorder` keeps them.

mod answer;
mod arrivals;
mod chunks;
mod clock;
mod connection;
mod desk;
mod engine;
mod error;
mod figures;
mod flight;
mod follow_up;
mod images;
mod inbox;
pub(crate) mod job;
mod lane;
pub(crate) mod latency;
pub(crate) mod mapping;
pub(crate) mod order_id;
mod pool;
pub mod population;
mod progress;
pub mod reason;
mod recorder;
mod request;
pub mod schedule;
pub mod summary;
mod tally;
mod timeline;
pub mod timetable;

pub use error::LoadError;
pub use job::{LoadJob, run};
pub use progress::{Counts, Progress};
