//! The servers of a drill: started, attached, broken by hand, and gone afterwards.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up fails")]

mod attach;
mod live;
mod native;
mod owner_killed;

/// Held by a test that scans what this process has started: another test's servers are in nobody's way, but the scan
/// would name them.
static ONLY_STACK: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
