//! The load generators that are compared: one file each, and this list. A new one needs a file and a line.

mod curve;
mod flashdrill;
mod goose;
mod k6;
mod lines;
mod oha;
pub mod program;
#[cfg(test)]
mod recorded;
mod vegeta;
mod wrk;
mod wrk2;

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use crate::request::{BODY, CONNECTIONS, CONTENT_TYPE, DEPTH, Requests, TEMPLATE};
pub use curve::{Curve, Latency};

/// The order in which they run and stand in the tables.
pub const ALL: [&dyn Tool; 7] = [
    &flashdrill::Flashdrill,
    &wrk::Wrk,
    &wrk2::Wrk2,
    &oha::Oha,
    &vegeta::Vegeta,
    &k6::K6,
    &goose::Goose,
];

/// How requests follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Each connection sends its next request when the answer is there.
    Closed,
    /// The same with `DEPTH` requests in flight on each connection.
    Pipelined,
    /// Evenly spaced in time, whatever the server does.
    Paced { per_s: u64 },
}

impl Pace {
    /// Requests in flight on one connection.
    fn depth(self) -> u32 {
        match self {
            Self::Pipelined => DEPTH,
            Self::Closed | Self::Paced { .. } => 1,
        }
    }
}

/// What a tool is asked to do.
#[derive(Debug, Clone, Copy)]
pub struct Load<'a> {
    pub url: &'a str,
    pub pace: Pace,
    pub requests: Requests,
    pub duration_ms: u64,
    /// Folder for files that the tool reads or writes.
    pub scratch: &'a Path,
}

impl Load<'_> {
    /// The duration as most tools want it.
    fn duration(&self) -> String {
        format!("{}ms", self.duration_ms)
    }

    /// Saves a file that the tool reads.
    fn file(&self, name: &str, text: &str) -> io::Result<PathBuf> {
        let path = self.scratch.join(name);
        std::fs::write(&path, text)?;
        Ok(path)
    }
}

/// One load generator.
pub trait Tool: Sync {
    fn name(&self) -> &'static str;

    /// Where it is installed.
    fn program(&self) -> Option<PathBuf> {
        program::on_path(self.name())
    }

    /// What to do when it is not.
    fn absent(&self) -> &'static str {
        "not available here"
    }

    fn version(&self, program: &Path) -> String;

    /// The command line; None when the tool has no such mode.
    ///
    /// # Errors
    /// A file that it needs cannot be written.
    fn command(&self, program: &Path, load: &Load<'_>) -> io::Result<Option<Command>>;

    /// The latencies that it reports, after a run that ended well.
    ///
    /// # Errors
    /// It printed something else than expected.
    fn latency(&self, program: &Path, load: &Load<'_>, printed: &str)
    -> Result<Latency, ReadError>;

    /// Its work was done, whatever it thinks of the server.
    fn is_done(&self, status: ExitStatus) -> bool {
        status.success()
    }

    /// It records no latency before this much of a run is over.
    fn calibration_ms(&self) -> u64 {
        0
    }
}

/// A tool's output that is not understood.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("its output has no {0}")]
    Missing(&'static str),
    #[error("its JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("cannot read {}: {reason}", .path.display())]
    File { path: PathBuf, reason: String },
}

#[cfg(test)]
pub mod testing {
    use super::*;
    use crate::scratch::Scratch;

    /// A load that writes its files to the system's scratch folder.
    pub fn arguments(tool: &dyn Tool, pace: Pace, requests: Requests) -> Option<String> {
        let scratch = Scratch::new(&format!("test-{}", tool.name())).unwrap();
        let load = Load {
            url: "http://127.0.0.1:1/buy",
            pace,
            requests,
            duration_ms: 5000,
            scratch: scratch.path(),
        };
        let command = tool.command(Path::new(tool.name()), &load).unwrap();
        command.map(|command| {
            let words = command.get_args().map(|word| word.to_string_lossy());
            words.collect::<Vec<_>>().join(" ")
        })
    }

    #[test]
    fn who_can_send_each_user_s_own_request() {
        let paces = [Pace::Closed, Pace::Pipelined, Pace::Paced { per_s: 5 }];
        for tool in ALL {
            let can = paces.map(|pace| arguments(tool, pace, Requests::Own).is_some());
            let expected = match tool.name() {
                "flashdrill" => [true, true, true],
                "wrk" => [true, true, false],
                "wrk2" => [false, false, true],
                _ => [false, false, false],
            };
            assert_eq!(can, expected, "{}", tool.name());
        }
    }

    #[test]
    fn names_are_unique_and_absences_explained() {
        let mut names: Vec<_> = ALL.iter().map(|tool| tool.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
        assert!(ALL.iter().all(|tool| !tool.absent().is_empty()));
    }
}
