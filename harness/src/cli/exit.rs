//! What the process answers.

use std::fmt::Display;
use std::process::ExitCode;

use crate::check::Verdict;
use crate::drill::fit::FitError;
use crate::drill::prepare::PrepareError;
use crate::drill::run::RunError;

/// Exit codes; see the command line's help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Pass,
    Fail,
    Inconclusive,
    Usage,
    Unavailable,
    Internal,
}

impl Exit {
    /// Prints the error with the names of things, and answers 64.
    pub fn usage(error: &dyn Display) -> Self {
        note!("flashdrill: {error}");
        Self::Usage
    }

    /// The environment could not start: 69.
    pub fn unavailable(error: &dyn Display) -> Self {
        note!("flashdrill: {error}");
        Self::Unavailable
    }

    /// Something that should not happen: 70.
    pub fn internal(error: &dyn Display) -> Self {
        note!("flashdrill: internal error: {error}");
        Self::Internal
    }

    /// Itself, or `other` when it is a pass.
    pub fn or(self, other: Self) -> Self {
        match self {
            Self::Pass => other,
            _ => self,
        }
    }

    /// The code for a run that was not carried through.
    pub fn of_run_error(error: &RunError) -> Self {
        match error {
            RunError::LeftBehind { .. } => {
                note!("flashdrill: {error}");
                Self::Fail
            }
            RunError::File(_)
            | RunError::Prepare(PrepareError::Template(_))
            | RunError::Fit(FitError::NoOpen { .. }) => Self::usage(error),
            RunError::Environment(_) | RunError::Prepare(_) => Self::unavailable(error),
            _ => Self::internal(error),
        }
    }
}

impl From<Verdict> for Exit {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Pass => Self::Pass,
            Verdict::Fail => Self::Fail,
            Verdict::Inconclusive => Self::Inconclusive,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Pass => 0,
            Exit::Fail => 1,
            Exit::Inconclusive => 2,
            Exit::Usage => 64,
            Exit::Unavailable => 69,
            Exit::Internal => 70,
        })
    }
}
