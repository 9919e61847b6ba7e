//! The start of a history file: what it is, which run it belongs to, and the names of the reasons.
//!
//! Layout: magic, version (u32, little endian like all numbers), then one block (see `block`) with
//! the rest as JSON.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use super::block;

pub const MAGIC: [u8; 8] = *b"fd-hist\n";
/// Raised with every change of the layout of file, block or record.
pub const VERSION: u32 = 2;
/// Magic and version.
pub const PREFIX_LEN: usize = 12;

/// What a reader must know before the first operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Seed of the run; request ids and user ids follow from it.
    pub seed: u64,
    /// Names of `Operation::reason`.
    pub reasons: Vec<String>,
}

impl Header {
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        block::write(out, &serde_json::to_vec(self)?)
    }
}
