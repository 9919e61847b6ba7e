//! The table of drills and mutants, and what it says about the drills.

use std::fmt::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::page::page;
use crate::check::{CheckId, Verdict, words};
use crate::drill::folder::FolderError;
use crate::drill::plan::Mutant;

/// All runs of one proof.
#[derive(Debug, Default)]
pub struct Matrix {
    /// Runs that there are to be.
    pub planned: usize,
    pub rows: Vec<Row>,
    /// The last run that was made for it and not taken from an earlier proof.
    pub last_run: Option<String>,
}

/// One run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Row {
    pub drill: String,
    /// None: the unmutated control.
    pub mutant: Option<Mutant>,
    pub verdict: Verdict,
    /// Checks that failed.
    pub failed: Vec<CheckId>,
    /// Name of the run folder.
    pub run: String,
}

/// What a row shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Survival {
    /// The control passed.
    ControlPassed,
    /// The control did not pass: the drill raises false alarms, or the service is broken.
    ControlFailed,
    /// The mutant was caught by the check named for it.
    Killed,
    /// The mutant was caught, but by other checks only.
    KilledByOther,
    /// The drill stayed green.
    Survived,
    /// The run was no valid test.
    Inconclusive,
}

impl Row {
    pub fn mutant_name(&self) -> &str {
        self.mutant.as_ref().map_or("(none)", |mutant| &mutant.name)
    }

    /// The check that must fail.
    pub fn must_fail(&self) -> String {
        let check = self
            .mutant
            .as_ref()
            .map(|mutant| format!("{:?}", mutant.check));
        check.unwrap_or_else(|| "-".to_owned())
    }

    pub fn failed_checks(&self) -> String {
        words(&self.failed)
    }

    pub fn survival(&self) -> Survival {
        match (&self.mutant, self.verdict) {
            (None, Verdict::Pass) => Survival::ControlPassed,
            (None, Verdict::Fail) => Survival::ControlFailed,
            (_, Verdict::Inconclusive) => Survival::Inconclusive,
            (Some(mutant), Verdict::Fail) if self.failed.contains(&mutant.check) => {
                Survival::Killed
            }
            (Some(_), Verdict::Fail) => Survival::KilledByOther,
            (Some(_), Verdict::Pass) => Survival::Survived,
        }
    }
}

impl Survival {
    /// What it means for the proof.
    pub fn verdict(self) -> Verdict {
        match self {
            Self::ControlPassed | Self::Killed => Verdict::Pass,
            Self::Inconclusive => Verdict::Inconclusive,
            Self::ControlFailed | Self::KilledByOther | Self::Survived => Verdict::Fail,
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Self::ControlPassed => "pass",
            Self::ControlFailed => "FAILED CONTROL",
            Self::Killed => "killed",
            Self::KilledByOther => "KILLED BY ANOTHER CHECK",
            Self::Survived => "SURVIVED",
            Self::Inconclusive => "INCONCLUSIVE",
        }
    }
}

impl Matrix {
    /// What is not done yet, in words; None: all is.
    pub fn missing(&self) -> Option<String> {
        let (done, planned) = (self.rows.len(), self.planned);
        (done < planned).then(|| {
            format!("{done} of {planned} runs; `flashdrill prove --resume` with the same words makes the others")
        })
    }

    /// Pass: every control passed and every mutant was killed by its check. Inconclusive or missing runs make
    /// the proof inconclusive unless something failed. No rows is no proof.
    pub fn verdict(&self) -> Verdict {
        self.rows
            .iter()
            .map(|row| row.survival().verdict())
            .chain(self.missing().map(|_| Verdict::Inconclusive))
            .max()
            .unwrap_or(Verdict::Inconclusive)
    }

    /// Markdown.
    pub fn table(&self) -> String {
        let mut text = String::from(
            "| drill | mutant | must fail | result | failed checks | run |\n|---|---|---|---|---|---|\n",
        );
        for row in &self.rows {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} |",
                row.drill,
                row.mutant_name(),
                row.must_fail(),
                row.survival().words(),
                row.failed_checks(),
                row.run
            );
        }
        if let Some(missing) = self.missing() {
            let _ = writeln!(text, "\n{missing}");
        }
        text
    }

    /// Writes `prove.md` and `prove.html` into the results folder.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, results: &Path) -> Result<(), FolderError> {
        let files = [("prove.md", self.table()), ("prove.html", page(self))];
        files.into_iter().try_for_each(|(name, text)| {
            let path = results.join(name);
            std::fs::write(&path, text).map_err(|source| FolderError::Write { path, source })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(mutant: Option<CheckId>, verdict: Verdict, failed: &[CheckId]) -> Row {
        Row {
            drill: "d".to_owned(),
            mutant: mutant.map(|check| Mutant {
                name: "m".to_owned(),
                check,
            }),
            verdict,
            failed: failed.to_vec(),
            run: "r".to_owned(),
        }
    }

    #[test]
    fn only_the_named_check_kills() {
        use CheckId::{L1, S2};
        let cases = [
            (
                row(None, Verdict::Pass, &[]),
                Survival::ControlPassed,
                Verdict::Pass,
            ),
            (
                row(None, Verdict::Fail, &[S2]),
                Survival::ControlFailed,
                Verdict::Fail,
            ),
            (
                row(None, Verdict::Inconclusive, &[]),
                Survival::Inconclusive,
                Verdict::Inconclusive,
            ),
            (
                row(Some(S2), Verdict::Fail, &[S2]),
                Survival::Killed,
                Verdict::Pass,
            ),
            (
                row(Some(S2), Verdict::Fail, &[L1]),
                Survival::KilledByOther,
                Verdict::Fail,
            ),
            (
                row(Some(S2), Verdict::Pass, &[]),
                Survival::Survived,
                Verdict::Fail,
            ),
            (
                row(Some(S2), Verdict::Inconclusive, &[]),
                Survival::Inconclusive,
                Verdict::Inconclusive,
            ),
        ];
        for (row, survival, verdict) in cases {
            assert_eq!(row.survival(), survival);
            let rows = vec![row];
            let matrix = Matrix {
                planned: 1,
                rows,
                last_run: None,
            };
            assert_eq!(matrix.verdict(), verdict);
        }
    }

    #[test]
    fn a_proof_that_is_not_finished_is_none() {
        let of = |verdict| Matrix {
            planned: 2,
            rows: vec![row(None, verdict, &[])],
            last_run: None,
        };
        assert_eq!(of(Verdict::Pass).verdict(), Verdict::Inconclusive);
        assert_eq!(of(Verdict::Fail).verdict(), Verdict::Fail);
        assert!(of(Verdict::Pass).table().contains("1 of 2 runs"));
    }

    #[test]
    fn a_matrix_without_rows_proves_nothing() {
        assert_eq!(Matrix::default().verdict(), Verdict::Inconclusive);
    }
}
