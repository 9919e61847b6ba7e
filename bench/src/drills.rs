//! Drills of the flashdrill that stands beside this program, with results that nobody keeps.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use crate::scratch::Scratch;
use crate::tool::program::beside_us;

/// Where the program is and where its runs go; the runs are removed with it.
pub struct Drills {
    pub flashdrill: PathBuf,
    scratch: Scratch,
}

impl Drills {
    /// # Errors
    /// Flashdrill is not built.
    pub fn new(name: &str) -> io::Result<Self> {
        let flashdrill = beside_us("flashdrill")
            .ok_or_else(|| io::Error::other("flashdrill is not built: `make build`"))?;
        Ok(Self {
            flashdrill,
            scratch: Scratch::new(name)?,
        })
    }

    /// For whatever else a comparison writes.
    pub fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// A run of a drill, whose verdict on standard output is not wanted.
    pub fn run(&self, drill: &str) -> Command {
        let mut command = Command::new(&self.flashdrill);
        command.args(["drill", "run", drill, "--results"]);
        command.arg(self.scratch()).stdout(Stdio::null());
        command
    }

    /// The folder of the last run, whatever its verdict: it was recorded.
    ///
    /// # Errors
    /// There is none.
    pub fn latest(&self, status: ExitStatus) -> io::Result<PathBuf> {
        let latest = fs::canonicalize(self.scratch().join("latest"));
        latest.map_err(|_| io::Error::other(format!("the drill left no run: {status}")))
    }
}

/// A number of a run's `verdict.json`.
///
/// # Errors
/// The file cannot be read, or does not say.
pub fn figure(run: &Path, section: &str, name: &str) -> io::Result<f64> {
    verdict(run)?[section][name]
        .as_f64()
        .ok_or_else(|| io::Error::other(format!("verdict.json has no {section}.{name}")))
}

/// A run's `verdict.json`.
///
/// # Errors
/// The file cannot be read.
pub fn verdict(run: &Path) -> io::Result<serde_json::Value> {
    read(run, "verdict.json")
}

/// A run's `plan.json`.
///
/// # Errors
/// The file cannot be read.
pub fn plan(run: &Path) -> io::Result<serde_json::Value> {
    read(run, "plan.json")
}

/// A run's `samples.jsonl`, a value a line.
///
/// # Errors
/// The file cannot be read.
pub fn samples(run: &Path) -> io::Result<Vec<serde_json::Value>> {
    let lines = fs::read_to_string(run.join("samples.jsonl"))?;
    let lines = lines.lines().map(serde_json::from_str);
    Ok(lines.collect::<Result<_, _>>()?)
}

fn read(run: &Path, name: &str) -> io::Result<serde_json::Value> {
    Ok(serde_json::from_slice(&fs::read(run.join(name))?)?)
}
