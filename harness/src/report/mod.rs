//! What people and machines read of a run: `verdict.json`, `report.html`, and ten lines for the terminal.

mod html;
mod panels;
mod plot;
mod summary;
mod verdict_file;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::check::{Evidence, Judgement, Verdict};

pub(crate) use html::frame;
pub use summary::summary;
pub use verdict_file::VerdictFile;

/// Everything a report tells.
#[derive(Debug, Clone, Copy)]
pub struct ReportInput<'r> {
    /// Name of the run, as of its folder.
    pub run: &'r str,
    /// When it began, as people write it.
    pub started_at: &'r str,
    /// The broken variant of the service that ran, if it was one.
    pub mutant: Option<&'r str>,
    pub evidence: &'r Evidence,
    pub judgement: &'r Judgement,
    /// Products and versions, and what else describes where it ran.
    pub environment: &'r BTreeMap<String, String>,
}

/// The files written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    pub verdict: PathBuf,
    pub html: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    #[error("{path} cannot be written")]
    File {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the verdict cannot be put into JSON; this is a bug")]
    Json(#[source] serde_json::Error),
    #[error("the plot `{panel}` cannot be drawn: {reason}; this is a bug")]
    Plot { panel: &'static str, reason: String },
}

/// Writes `verdict.json` and then `report.html`: the verdict does not depend on a drawing.
///
/// # Errors
/// A file cannot be written, or a plot not drawn.
pub fn write_all(run_dir: &Path, input: &ReportInput<'_>) -> Result<Written, ReportError> {
    let written = Written {
        verdict: run_dir.join("verdict.json"),
        html: run_dir.join("report.html"),
    };
    let mut json =
        serde_json::to_vec_pretty(&VerdictFile::new(input)).map_err(ReportError::Json)?;
    json.push(b'\n');
    write(&written.verdict, &json)?;
    write(&written.html, html::page(input)?.as_bytes())?;
    Ok(written)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), ReportError> {
    fs::write(path, bytes).map_err(|source| ReportError::File {
        path: path.to_owned(),
        source,
    })
}

/// The verdict as one word.
pub(crate) fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::Fail => "fail",
        Verdict::Inconclusive => "inconclusive",
    }
}
