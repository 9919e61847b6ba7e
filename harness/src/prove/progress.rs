//! A proof on its way: what it has found is on disk after each run, so that one that was interrupted can go on.

use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::matrix::Row;
use crate::drill::folder::{FolderError, RunFolder};
use crate::drill::plan::{Mutant, Plan};
use crate::target::template::fill;

const FILE: &str = "prove.json";

/// The rows so far.
#[derive(Debug)]
pub struct Progress {
    results: RunFolder,
    done: Vec<Done>,
}

/// One of them, and what it was a run of.
#[derive(Debug, Serialize, Deserialize)]
struct Done {
    subject: u64,
    row: Row,
}

impl Progress {
    /// Of a proof that begins anew.
    pub fn new(results: &Path) -> Self {
        Self {
            results: RunFolder::open(results),
            done: Vec::new(),
        }
    }

    /// Of the last proof in these results.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn resumed(results: &Path) -> Result<Self, FolderError> {
        let results = RunFolder::open(results);
        let done = results.load(FILE)?;
        Ok(Self { results, done })
    }

    /// What a run of the same subject has found.
    pub fn row(&self, subject: u64) -> Option<&Row> {
        let known = self.done.iter().find(|one| one.subject == subject);
        known.map(|one| &one.row)
    }

    /// Keeps a row, at once.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep(&mut self, subject: u64, row: Row) -> Result<(), FolderError> {
        self.done.retain(|one| one.subject != subject);
        self.done.push(Done { subject, row });
        self.results.save(FILE, &self.done)
    }
}

/// Stands for what a run is of: the plan but for its name and seed, the mutant, and the program that is started. A
/// drill that was changed or a service that was built again is another subject.
pub fn subject(plan: &Plan, mutant: Option<&Mutant>, bin_dir: &Path) -> u64 {
    let mut plan = plan.clone();
    plan.sale.id.clear();
    plan.seed = 0;
    let start = &plan.target.start;
    let command = match mutant {
        Some(_) => &start.mutant_command,
        None => &start.command,
    };
    let variables = [("bin_dir".to_owned(), bin_dir.display().to_string())].into();
    let program = command
        .first()
        .and_then(|first| fill(first, &variables).ok());
    let mut digest = Xxh3::new();
    // What cannot be read is missed at the start of the run.
    digest.update(
        &program
            .and_then(|path| std::fs::read(path).ok())
            .unwrap_or_default(),
    );
    digest.update(mutant.map_or("", |mutant| &mutant.name).as_bytes());
    digest.update(&serde_json::to_vec(&plan).unwrap_or_default());
    digest.digest()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{CheckId, Verdict, tiny_plan};

    fn row(run: &str) -> Row {
        Row {
            drill: "d".to_owned(),
            mutant: None,
            verdict: Verdict::Pass,
            failed: Vec::new(),
            run: run.to_owned(),
        }
    }

    #[test]
    fn what_was_kept_is_there_after_an_interruption() {
        let results = tempfile::tempdir().unwrap();
        assert!(Progress::resumed(results.path()).is_err());
        let mut progress = Progress::new(results.path());
        progress.keep(1, row("first")).unwrap();
        progress.keep(2, row("second")).unwrap();
        progress.keep(1, row("again")).unwrap();
        let resumed = Progress::resumed(results.path()).unwrap();
        let run = |subject| resumed.row(subject).map(|row| row.run.as_str());
        assert_eq!(
            [run(1), run(2), run(3)],
            [Some("again"), Some("second"), None]
        );
    }

    #[test]
    fn another_plan_mutant_or_program_is_another_subject() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("shop");
        std::fs::write(&program, "one").unwrap();
        let mut plan = tiny_plan();
        plan.target.start.command = vec!["{bin_dir}/shop".to_owned()];
        plan.target.start.mutant_command = plan.target.start.command.clone();
        let mutant = Mutant {
            name: "m".to_owned(),
            check: CheckId::S1,
        };
        let of = |plan: &Plan, mutant| subject(plan, mutant, folder.path());
        let first = of(&plan, None);
        let renamed = Plan {
            seed: 99,
            ..plan.clone()
        };
        assert_eq!(of(&renamed, None), first);
        let changed = Plan {
            title: "other".to_owned(),
            ..plan.clone()
        };
        assert_ne!(of(&changed, None), first);
        assert_ne!(of(&plan, Some(&mutant)), first);
        std::fs::write(&program, "two").unwrap();
        assert_ne!(of(&plan, None), first);
    }
}
