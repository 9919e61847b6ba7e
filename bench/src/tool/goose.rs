//! Goose: closed loop, users that wait for their answers. A library, so `flashbench-goose` is our load test with
//! it; built with the feature `goose` only, since it pulls in more than everything else here together.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{
    BODY, CONNECTIONS, CONTENT_TYPE, Latency, Load, Pace, ReadError, Tool, lines, program,
};

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
        program::version_in(&program::printed(program, &["--goose-version"]))
    }

    fn command(&self, program: &Path, load: &Load<'_>) -> io::Result<Option<Command>> {
        if load.pace != Pace::Closed {
            return Ok(None);
        }
        let seconds = load.duration_ms.div_ceil(1000).to_string();
        let mut command = Command::new(program);
        command
            .args([load.url, &CONNECTIONS.to_string(), &seconds])
            .args([CONTENT_TYPE, BODY]);
        Ok(Some(command))
    }

    fn latency(&self, _: &Path, _: &Load<'_>, printed: &str) -> Result<Latency, ReadError> {
        lines::read(printed)
    }
}
