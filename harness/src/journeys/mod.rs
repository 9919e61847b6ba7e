//! Whole buyers beside the open-loop load: each asks for a challenge, buys, polls until the order is
//! decided, then pays, cancels or leaves it, and comes again. A closed loop, driven by Goose.
//!
//! Their purchases are real, so every request of theirs is in a history of its own (`journeys.bin`),
//! with keys and users that the load never uses, and the checkers judge both histories together.
//!
//! `buyers` says who buys what, `calls` what is sent, `walk` in which order; `attack` runs Goose;
//! the `logbook` keeps what came of it.

mod answer;
mod attack;
mod buyers;
mod calls;
mod clock;
mod error;
mod job;
mod logbook;
mod plan;
mod shop;
pub mod step;
pub mod summary;
mod walk;

pub use attack::leave_ctrl_c_alone;
pub use buyers::is_journey;
pub use error::JourneyError;
pub use job::{JourneyJob, Journeying};
pub use plan::Journeys;
pub use summary::JourneySummary;
