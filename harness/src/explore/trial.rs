//! One drill of an exploration: written, run, judged.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::draft::Draft;
use super::summary::Summary;
use super::{BROKEN_RUNS_MAX, ExploreError, Order};
use crate::check::{CheckId, Verdict};
use crate::drill::folder::{FolderError, RunFolder, run_name};
use crate::drill::resolve::{Choices, load_plan};
use crate::drill::run::{self, Bench, RunError};
use crate::environment::Stack;

/// Where drills are run and kept.
pub struct Lab<'l> {
    pub stack: &'l Arc<Stack>,
    pub bench: &'l Bench,
    pub order: &'l Order,
    folder: PathBuf,
    runs: u64,
    broken_runs: u64,
}

/// What a drill showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Held,
    /// The checks that failed.
    Failed(Vec<CheckId>),
    /// It was no valid test, and why.
    NoTest(String),
}

impl<'l> Lab<'l> {
    /// The seed names the folder of its files.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn new(
        stack: &'l Arc<Stack>,
        bench: &'l Bench,
        order: &'l Order,
    ) -> Result<Self, FolderError> {
        let folder = bench.results.join(format!("explore-{}", order.seed));
        std::fs::create_dir_all(&folder).map_err(|source| write_error(&folder, source))?;
        Ok(Self {
            stack,
            bench,
            order,
            folder,
            runs: 0,
            broken_runs: 0,
        })
    }

    /// Writes the drill as `<name>.toml` and runs it; returns what it showed and the name of the run.
    ///
    /// # Errors
    /// The file cannot be written, or too many runs in a row could not be carried through.
    pub async fn run(
        &mut self,
        draft: &Draft,
        name: &str,
    ) -> Result<(Outcome, String), ExploreError> {
        let path = self.write(draft, name)?;
        let word = format!("explore-{name}-{}", self.runs);
        self.runs += 1;
        let choices = Choices {
            run: run_name(&word),
            ..Choices::default()
        };
        let plan = load_plan(&path, &choices)?;
        let finished = run::run(self.stack, &plan, self.order.mutant.as_deref(), self.bench).await;
        let outcome = match finished {
            Ok(finished) => {
                self.broken_runs = 0;
                let judgement = &finished.judgement;
                self.bench.narrate.say(&finished.summary());
                match judgement.verdict {
                    Verdict::Pass => Outcome::Held,
                    Verdict::Fail => Outcome::Failed(judgement.failed()),
                    Verdict::Inconclusive => Outcome::NoTest(judgement.reasons.join("; ")),
                }
            }
            Err(RunError::LeftBehind { .. }) => Outcome::Failed(vec![CheckId::P2]),
            Err(error) => self.not_carried_through(error)?,
        };
        Ok((outcome, plan.sale.id))
    }

    /// A server that was slow to come back is no finding; servers that never do are the end.
    fn not_carried_through(&mut self, error: RunError) -> Result<Outcome, ExploreError> {
        self.broken_runs += 1;
        self.bench.narrate.say(&error.to_string());
        match self.broken_runs {
            runs @ BROKEN_RUNS_MAX.. => Err(ExploreError::Broken { runs, error }),
            _ => Ok(Outcome::NoTest(error.to_string())),
        }
    }

    /// Writes the drill into the folder and returns where.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, draft: &Draft, name: &str) -> Result<PathBuf, ExploreError> {
        let path = self.folder.join(format!("{name}.toml"));
        let text = format!(
            "target = {:?}\n{}",
            self.order.target_file,
            draft.to_toml()?
        );
        std::fs::write(&path, text).map_err(|source| write_error(&path, source))?;
        Ok(path)
    }

    /// Writes `explore.md` and `explore.json`.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn save(&self, summary: &Summary) -> Result<(), FolderError> {
        let path = self.folder.join("explore.md");
        std::fs::write(&path, summary.to_text()).map_err(|source| write_error(&path, source))?;
        RunFolder::open(&self.folder).save("explore.json", summary)
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

fn write_error(path: &Path, source: std::io::Error) -> FolderError {
    FolderError::Write {
        path: path.to_owned(),
        source,
    }
}
