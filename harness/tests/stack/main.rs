//! The servers of a drill: started, attached, broken by hand, and gone afterwards.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up fails")]

mod attach;
mod live;
mod native;
mod owner_killed;
