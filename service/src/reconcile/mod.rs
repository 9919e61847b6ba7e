//! Brings Redis back to what MySQL says: releases that are due, and rebuilds after anything that may
//! have cost Redis its memory.
//!
//! Never sets Redis to MySQL's number while something is in flight: close, drain, rebuild, compare,
//! open, in that order. Several nodes agree on it in MySQL: the keeper that leads begins an epoch, every gateway
//! closes and says when nothing is on its way through it, and Redis takes nothing of an older epoch.

pub mod applied;
pub mod check_back;
mod doubt;
pub mod drain;
pub mod follower;
pub mod keeper;
pub mod lately;
pub mod lease;
pub mod patience;
pub mod quiet;
pub mod rebuild;
pub mod releases;
pub mod sweep;
