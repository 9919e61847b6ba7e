//! What happened: the log of every operation, and what the stores held at the end.

mod block;
mod epoch;
mod error;
mod filter;
pub mod final_state;
mod header;
mod line;
pub mod operation;
mod reader;
mod record;
pub mod words;
mod writer;

pub use epoch::FaultEpoch;
pub use error::HistoryError;
pub use filter::Filter;
pub use header::Header;
pub use line::Line;
pub use reader::{HistoryReader, Survey, survey};
pub use writer::{HistoryTotals, HistoryWriter};
