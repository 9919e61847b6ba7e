//! Tells what is left on the machine when a command's stack is gone.

use super::exit::Exit;
use crate::environment::{Leftover, scan_machine};

/// Scans, prints what it finds, and answers 1 when that is anything.
pub async fn look() -> (Exit, Vec<Leftover>) {
    let found = scan_machine().await;
    for leftover in &found {
        note!("flashdrill: left behind: {leftover}");
    }
    let exit = if found.is_empty() {
        Exit::Pass
    } else {
        Exit::Fail
    };
    (exit, found)
}
