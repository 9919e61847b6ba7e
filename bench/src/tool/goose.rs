//! Goose: closed loop, users that wait for their answers. A library, so `flashbench-goose` is our load test with
//! it, which always sends the same request; built with the feature `goose` only, since it pulls in more than everything else here together.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{CONNECTIONS, Latency, Load, Pace, ReadError, Tool, lines, program};
use crate::request::{PATH, Requests};

const PROGRAM: &str = "flashbench-goose";

pub struct Goose;

impl Tool for Goose {
    fn name(&self) -> &'static str {
        "Goose"
    }

    fn program(&self) -> Option<PathBuf> {
        program::beside_us(PROGRAM)
    }

    fn absent(&self) -> &'static str {
        "not built: cargo build --release -p flashbench --features goose"
    }

    fn version(&self, program: &Path) -> String {
        program::version_in(&program::printed(program, &["--version"]))
    }

    fn command(&self, program: &Path, load: &Load<'_>) -> io::Result<Option<Command>> {
        if load.pace != Pace::Closed || load.requests != Requests::Same {
            return Ok(None);
        }
        let host = load.url.trim_end_matches(PATH);
        let users = CONNECTIONS.to_string();
        let seconds = load.duration_ms.div_ceil(1000).to_string();
        let mut command = Command::new(program);
        // All users at once, and nothing printed but what our program prints.
        command
            .args(["--host", host, "--users", &users, "--increase-rate", "1000"])
            .args([
                "--run-time",
                &seconds,
                "--no-telnet",
                "--no-print-metrics",
                "-q",
            ]);
        Ok(Some(command))
    }

    fn latency(&self, _: &Path, _: &Load<'_>, printed: &str) -> Result<Latency, ReadError> {
        lines::read(printed)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::arguments;
    use super::*;

    const PRINTED: &str = "\
latency_us 10 1216
latency_us 50 1360
latency_us 99 2752
latency_us 99.9 3936
latency_us 99.99 4160
";

    #[test]
    fn our_program_s_lines_are_read() {
        let latency = lines::read(PRINTED).unwrap();
        let figures = [latency.p50_us, latency.p99_us, latency.p999_us];
        assert_eq!(figures.map(|us| us as u64), [1360, 2752, 3936]);
    }

    #[test]
    fn it_can_only_be_closed() {
        let closed = arguments(&Goose, Pace::Closed, Requests::Same).unwrap();
        assert!(
            closed.starts_with("--host http://127.0.0.1:1 --users 64 "),
            "{closed}"
        );
        assert!(closed.contains("--run-time 5 "), "{closed}");
        assert_eq!(
            arguments(&Goose, Pace::Paced { per_s: 5000 }, Requests::Same),
            None
        );
        assert_eq!(arguments(&Goose, Pace::Pipelined, Requests::Same), None);
    }
}
