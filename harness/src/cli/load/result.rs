//! What a load came to: figures with their summary, saved, read back, judged by gates.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::gate::Gate;
use super::text;
use crate::cli::exit::Exit;
use crate::load::LoadError;
use crate::load::figures::Figures;
use crate::load::summary::LoadSummary;
use crate::load::timeline;

/// A generator that sent less than this share of the schedule, or was this late with 1 % of it, did not hold it.
const SENT_SHARE_MIN: f64 = 0.999;
const LAG_US_P99_MAX: u64 = 50_000;

/// A result file: the summary's keys, then what merging needs.
#[derive(Debug, Serialize, Deserialize)]
pub struct LoadResult {
    /// What was offered to whom.
    pub about: String,
    #[serde(flatten)]
    pub summary: LoadSummary,
    pub figures: Figures,
}

/// A result that cannot be saved or read.
#[derive(Debug, thiserror::Error)]
pub enum ResultError {
    #[error("cannot write {path}: {source}")]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("cannot read {path}: {source}")]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{path} is no result of `flashdrill load --json`: {source}")]
    Damaged {
        path: PathBuf,
        source: serde_json::Error,
    },
    #[error(transparent)]
    Log(#[from] LoadError),
}

impl LoadResult {
    pub fn new(about: String, figures: Figures) -> Self {
        Self {
            about,
            summary: figures.summary(),
            figures,
        }
    }

    /// # Errors
    /// A file that cannot be read, or holds something else.
    pub fn read(path: &Path) -> Result<Self, ResultError> {
        let text = std::fs::read_to_string(path).map_err(|source| ResultError::Read {
            path: path.to_owned(),
            source,
        })?;
        serde_json::from_str(&text).map_err(|source| ResultError::Damaged {
            path: path.to_owned(),
            source,
        })
    }

    /// Saves the figures as JSON (`-` prints them) and the response times as an HdrHistogram log.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn save(&self, json: Option<&Path>, hdr: Option<&Path>) -> Result<(), ResultError> {
        let text = serde_json::to_string(self).expect("figures are numbers and names");
        match json {
            Some(path) if path == Path::new("-") => say!("{text}"),
            Some(path) => std::fs::write(path, text).map_err(|source| ResultError::Write {
                path: path.to_owned(),
                source,
            })?,
            None => {}
        }
        if let Some(path) = hdr {
            timeline::write_log(&self.figures.seconds, path)?;
        }
        Ok(())
    }

    /// Prints what came of it and gives the exit code: a gate that does not hold fails, a schedule that was not
    /// held is no valid test.
    pub fn conclude(&self, gates: &[Gate], quiet: bool) -> Exit {
        let checked: Vec<_> = gates
            .iter()
            .map(|gate| (gate, gate.check(&self.summary)))
            .collect();
        let not_held = self.not_held();
        let text = text::of(self, &checked, not_held.as_deref());
        if quiet {
            note!("{text}");
        } else {
            say!("{text}");
        }
        match not_held {
            _ if checked.iter().any(|(_, (holds, _))| !holds) => Exit::Fail,
            Some(_) => Exit::Inconclusive,
            None => Exit::Pass,
        }
    }

    /// Why this is no measurement of the server; None: it is one.
    fn not_held(&self) -> Option<String> {
        let summary = &self.summary;
        let what = if let Some(why) = &summary.aborted {
            why.clone()
        } else if summary.offered == 0 {
            "nothing was offered".to_owned()
        } else if summary.sent == 0 {
            "nothing could be sent: is a server listening there?".to_owned()
        } else if summary.sent_share < SENT_SHARE_MIN {
            format!(
                "{} of the requests were never sent",
                crate::figures::count(summary.dropped)
            )
        } else if summary.schedule_lag_us.p99 > LAG_US_P99_MAX {
            format!(
                "1 % of the requests went out {} late or more",
                crate::figures::us(summary.schedule_lag_us.p99)
            )
        } else {
            return None;
        };
        let cause = summary
            .held_up_by
            .as_ref()
            .map(|cause| format!("; {cause}"));
        Some(format!("{what}{}", cause.unwrap_or_default()))
    }
}
