//! The `flashbench` command: maps what a command answers to the exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    flashbench::cli::main()
}
