//! The open-loop load: when requests arrive, who sends them, and what came back.
//!
//! `schedule` and `population` say what is sent when, as pure functions; `engine` drives it through
//! the connections of the `pool`; the `desk` understands the answers and the `recorder` keeps them.

pub mod address;
mod answer;
pub mod arrival_times;
mod arrivals;
mod chunks;
pub mod class;
mod clock;
mod connection;
mod desk;
pub mod endpoint;
mod engine;
mod error;
pub mod figures;
mod flight;
mod follow_up;
mod heads;
pub mod host;
mod images;
mod inbox;
pub(crate) mod job;
mod lane;
pub mod latency;
mod layer;
pub(crate) mod mapping;
pub(crate) mod order_id;
mod outages;
mod packed;
mod piece;
mod poisson;
mod pool;
pub mod population;
mod progress;
pub(crate) mod random;
pub mod reason;
mod recorder;
mod request;
pub mod schedule;
mod skew;
mod source;
pub mod spec;
pub mod strain;
pub mod summary;
mod tally;
pub mod timeline;
pub mod timetable;
mod waker;
mod wire;

pub use error::LoadError;
pub use job::{LoadJob, run};
pub use progress::{Counts, Progress};
