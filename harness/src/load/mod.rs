//! The open-loop load: when requests arrive, who sends them, and what came back.

mod answer;
mod clock;
mod error;
mod mapping;
mod order_id;
pub mod population;
mod progress;
pub mod reason;
mod request;
pub mod schedule;
pub mod summary;
pub mod timetable;

pub use error::LoadError;
pub use progress::{Counts, Progress};
