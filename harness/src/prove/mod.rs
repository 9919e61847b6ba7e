//! The proof of the drills themselves: each drill must catch its mutants by the check named for them, and the
//! unmutated service must pass the same drill in the same session.

mod matrix;
mod page;
mod progress;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::check::Verdict;
use crate::drill::file::FileError;
use crate::drill::folder::run_name;
use crate::drill::plan::{Mutant, Plan};
use crate::drill::resolve::{Choices, load_plan};
use crate::drill::run::{self, Bench, RunError};
use crate::environment::Stack;

pub use matrix::{Matrix, Row, Survival};
pub use progress::Progress;

/// What to prove.
#[derive(Debug, Clone, Default)]
pub struct Order {
    /// Only these mutants; empty means all.
    pub mutants: Vec<String>,
    pub short: bool,
    /// Instead of the drills' own.
    pub target: Option<String>,
    /// Only under this variant of the target; None: as the drills run, and under every variant that they name.
    pub variant: Option<String>,
    pub seed: Option<u64>,
}

/// One drill and what it is run against.
#[derive(Debug)]
pub struct Job {
    file: PathBuf,
    choices: Choices,
    /// What would run, but for its name.
    pub plan: Plan,
    mutants: Vec<Mutant>,
}

/// Nothing to prove, or a drill that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ProveError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error(
        "no drill names the mutant `{0}`; `flashdrill drill plan FILE` shows a drill's mutants"
    )]
    UnknownMutant(String),
    #[error("none of these drills names a mutant or a variant; add a [[mutants]] section")]
    NothingToProve,
}

/// The jobs that the files and the order ask for.
///
/// # Errors
/// A wrong drill file, a mutant nobody names, or nothing to do: a proof of nothing is no proof.
pub fn jobs(files: &[PathBuf], order: &Order) -> Result<Vec<Job>, ProveError> {
    let mut jobs = Vec::new();
    for file in files {
        let choices = Choices {
            seed: order.seed,
            short: order.short,
            target: order.target.clone(),
            ..Choices::default()
        };
        let plan = load_plan(file, &choices)?;
        for variant in plan.variants.clone() {
            let variant = Choices {
                variant: Some(variant),
                ..choices.clone()
            };
            let plan = load_plan(file, &variant)?;
            jobs.extend(order.job(file, variant, plan));
        }
        jobs.extend(order.job(file, choices, plan));
    }
    let named = |name: &&String| {
        jobs.iter()
            .flat_map(|job| &job.mutants)
            .any(|m| m.name == **name)
    };
    if let Some(unknown) = order.mutants.iter().find(|name| !named(name)) {
        return Err(ProveError::UnknownMutant(unknown.clone()));
    }
    if jobs.is_empty() {
        Err(ProveError::NothingToProve)
    } else {
        Ok(jobs)
    }
}

impl Order {
    /// What the order asks of a plan; None: nothing. A drill that names neither mutant nor variant proves nothing.
    fn job(&self, file: &Path, choices: Choices, plan: Plan) -> Option<Job> {
        let is_wanted =
            |mutant: &&Mutant| self.mutants.is_empty() || self.mutants.contains(&mutant.name);
        let mutants: Vec<_> = plan.mutants.iter().filter(is_wanted).cloned().collect();
        let is_control = choices.variant.is_some() && self.mutants.is_empty();
        let is_variant = self.variant.is_none() || self.variant == choices.variant;
        (is_variant && (is_control || !mutants.is_empty())).then(|| Job {
            file: file.to_owned(),
            choices,
            plan,
            mutants,
        })
    }
}

/// Runs every job, the unmutated control first, then each mutant; what `progress` knows is not run again. Ctrl-C
/// ends it before the next run.
///
/// # Errors
/// A run that could not be carried through, or the table cannot be written. What was found before is kept.
pub async fn run(
    stack: &Arc<Stack>,
    jobs: &[Job],
    bench: &Bench,
    mut progress: Progress,
) -> Result<Matrix, RunError> {
    let mut matrix = Matrix {
        planned: jobs.iter().map(|job| 1 + job.mutants.len()).sum(),
        ..Matrix::default()
    };
    for (job, mutant) in jobs.iter().flat_map(Job::runs) {
        let subject = progress::subject(&job.plan, mutant, &bench.bin_dir);
        let row = match progress.row(subject) {
            Some(known) => known.clone(),
            None => {
                let row = row(stack, job, mutant, bench).await?;
                matrix.last_run = Some(row.run.clone());
                // The run that Ctrl-C came into was cut short.
                if bench.cancel.load(Ordering::Relaxed) {
                    break;
                }
                if row.verdict != Verdict::Inconclusive {
                    progress.keep(subject, row.clone())?;
                }
                row
            }
        };
        matrix.rows.push(row);
        matrix.save(&bench.results)?;
    }
    Ok(matrix)
}

impl Job {
    /// The control, then the mutants.
    fn runs(&self) -> impl Iterator<Item = (&Self, Option<&Mutant>)> {
        let mutants = self.mutants.iter().map(Some);
        std::iter::once(None)
            .chain(mutants)
            .map(move |mutant| (self, mutant))
    }
}

async fn row(
    stack: &Arc<Stack>,
    job: &Job,
    mutant: Option<&Mutant>,
    bench: &Bench,
) -> Result<Row, RunError> {
    let name = mutant.map_or("unmutated", |mutant| mutant.name.as_str());
    let plan = replan(job, name)?;
    let finished = run::run(stack, &plan, mutant.map(|m| m.name.as_str()), bench).await?;
    Ok(Row {
        drill: plan.drill,
        mutant: mutant.cloned(),
        verdict: finished.judgement.verdict,
        failed: finished.judgement.failed(),
        run: plan.sale.id,
    })
}

/// A plan with a run name of its own.
fn replan(job: &Job, variant: &str) -> Result<Plan, RunError> {
    let mut choices = job.choices.clone();
    let stem = job.file.file_stem().unwrap_or_default().to_string_lossy();
    let words = [Some(&*stem), choices.variant.as_deref(), Some(variant)];
    let words: Vec<&str> = words.into_iter().flatten().collect();
    choices.run = run_name(&words.join("-"));
    load_plan(&job.file, &choices).map_err(RunError::File)
}
