//! What happened: the log of every operation, and what the stores held at the end.

mod block;
mod error;
pub mod final_state;
mod header;
pub mod operation;
mod reader;
mod record;
mod writer;

pub use error::HistoryError;
pub use header::Header;
pub use reader::{HistoryReader, Survey, survey};
pub use writer::{HistoryTotals, HistoryWriter};
