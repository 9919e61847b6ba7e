//! The `flashdrill` command: maps what a command answers to the exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    flashdrill::cli::main().into()
}
