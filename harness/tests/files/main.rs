//! What is read from files and written to them: drills, endpoints, histories, reports.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up fails")]

mod catalogue;
mod drill_files;
mod endpoints_files;
mod history;
mod history_command;
mod left_readers;
#[path = "../plan/mod.rs"]
mod plan;
mod report;
