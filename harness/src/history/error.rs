//! Why a history could not be written or read.

use std::io;
use std::path::PathBuf;

/// What is wrong, and where.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    #[error("could not {doing} the history {path}: {source}")]
    File {
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("{path} is no history: it does not start as one")]
    NotAHistory { path: PathBuf },
    #[error("{path} is a history of version {found}; this program reads version {expected}")]
    Version {
        path: PathBuf,
        found: u32,
        expected: u32,
    },
    #[error(
        "the history {path} is damaged at byte {at}: {what}; the {operations} operations before it are whole"
    )]
    Damaged {
        path: PathBuf,
        at: u64,
        what: &'static str,
        operations: u64,
    },
    #[error("the thread that writes the history {path} is gone")]
    WriterGone { path: PathBuf },
}
