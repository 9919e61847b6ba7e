//! Brings Redis back to what MySQL says: releases that are due, and rebuilds after anything that may
//! have cost Redis its memory.
//!
//! Never sets Redis to MySQL's number while something is in flight: close, drain, rebuild, compare,
//! open, in that order.

pub mod applied;
pub mod drain;
pub mod keeper;
pub mod rebuild;
pub mod releases;
pub mod sweep;
