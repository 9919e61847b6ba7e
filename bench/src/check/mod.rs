//! How long `flashdrill check` takes for a large history, and whether its memory grows with the refusals.
//!
//! The histories are real: the flagship drill makes them, at its full rate and at a tenth of it. Both sell the same
//! units, so that what is more in the larger one is refusals.

mod process;
mod table;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Serialize;

use crate::machine::Machine;
use crate::median::median;
use crate::scratch::Scratch;
use crate::tool::program::beside_us;
use process::{Spent, run_to_end};

pub use table::markdown;

const DRILL: &str = "baseline/flagship";
/// Shares of the drill's rate, and how often each history is checked.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Settings {
    pub rate_shares: [f64; 2],
    pub repeats: usize,
}

impl Settings {
    pub const FULL: Self = Self {
        rate_shares: [0.1, 1.0],
        repeats: 3,
    };

    /// A tenth of it.
    pub const SHORT: Self = Self {
        rate_shares: [0.02, 0.1],
        repeats: 1,
    };
}

/// One history, and what checking it took.
#[derive(Debug, Serialize)]
pub struct Checked {
    pub attempts: u64,
    pub checks: Vec<Spent>,
}

#[derive(Debug, Serialize)]
pub struct Checks {
    pub machine: Machine,
    pub settings: Settings,
    /// The smaller history first.
    pub histories: Vec<Checked>,
}

/// Makes the histories and checks them.
///
/// # Errors
/// Flashdrill is not built or cannot be run, or a drill left no history.
pub fn measure(settings: Settings) -> io::Result<Checks> {
    let flashdrill = beside_us("flashdrill")
        .ok_or_else(|| io::Error::other("flashdrill is not built: `make build`"))?;
    let scratch = Scratch::new("check")?;
    let histories = settings.rate_shares.iter().map(|share| {
        eprintln!("bench: {DRILL} at {share} of its rate makes a history");
        let run = make_history(&flashdrill, scratch.path(), *share)?;
        checked(&flashdrill, &run, settings.repeats)
    });
    Ok(Checks {
        machine: Machine::here()?,
        settings,
        histories: histories.collect::<io::Result<_>>()?,
    })
}

/// Whatever its verdict is here: it was recorded.
fn make_history(flashdrill: &Path, scratch: &Path, share: f64) -> io::Result<PathBuf> {
    let status = Command::new(flashdrill)
        .args([
            "drill",
            "run",
            DRILL,
            "--rate-share",
            &share.to_string(),
            "--results",
        ])
        .arg(scratch)
        .stdout(Stdio::null())
        .status()?;
    let latest = fs::canonicalize(scratch.join("latest"));
    latest.map_err(|_| io::Error::other(format!("the drill left no run: {status}")))
}

fn checked(flashdrill: &Path, run: &Path, repeats: usize) -> io::Result<Checked> {
    let checks = (0..repeats).map(|_| {
        let mut command = Command::new(flashdrill);
        run_to_end(command.arg("check").arg(run))
    });
    Ok(Checked {
        attempts: attempts(run)?,
        checks: checks.collect::<io::Result<_>>()?,
    })
}

/// Clicks that the run's verdict counts; the flagship's buyers do nothing else.
fn attempts(run: &Path) -> io::Result<u64> {
    let verdict: serde_json::Value = serde_json::from_slice(&fs::read(run.join("verdict.json"))?)?;
    let attempts = verdict["sale"]["buy_attempts"].as_u64();
    attempts.ok_or_else(|| io::Error::other("verdict.json does not count the attempts"))
}

impl Checked {
    /// The median check's figure.
    pub fn median(&self, figure: impl Fn(&Spent) -> f64) -> f64 {
        median(self.checks.iter().map(figure).collect()).unwrap_or(f64::NAN)
    }
}
