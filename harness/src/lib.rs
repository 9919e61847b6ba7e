//! Flashdrill: load, faults, history, checkers and reports for flash-sale inventory.
//!
//! Data flows one way: drill file -> plan -> environment -> (load, faults, observe) -> history and
//! final state -> checkers -> verdict -> report. Each stage takes the output types of the stage before.

pub mod check;
pub mod cli;
pub mod drill;
pub mod environment;
pub mod explore;
pub mod faults;
mod figures;
pub mod history;
pub mod journeys;
pub mod live;
pub mod load;
pub mod observe;
pub mod prove;
pub mod proxy;
pub mod report;
pub mod target;
