//! Streams a saved history, and says where it is damaged.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use super::block::{self, Block};
use super::header::{MAGIC, PREFIX_LEN, VERSION};
use super::operation::Operation;
use super::{Header, HistoryError, record};

/// Gives the operations in the order they completed. After the last whole one of a damaged history
/// it gives the damage once, then nothing.
#[derive(Debug)]
pub struct HistoryReader {
    path: PathBuf,
    input: BufReader<File>,
    header: Header,
    payload: Vec<u8>,
    /// Place of the next operation in `payload`.
    next: usize,
    /// Place of the next block in the file.
    at: u64,
    operations: u64,
    done: bool,
}

/// What a pass over a whole history found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survey {
    pub header: Header,
    /// Operations that can be read.
    pub operations: u64,
    /// Why not all of them can; None: the history is whole.
    pub damage: Option<String>,
}

/// Reads a history through once, before it is judged.
///
/// # Errors
/// Not even the header can be read.
pub fn survey(path: &Path) -> Result<Survey, HistoryError> {
    let mut reader = HistoryReader::open(path)?;
    let damage = reader.find_map(Result::err).map(|error| error.to_string());
    Ok(Survey {
        header: reader.header,
        operations: reader.operations,
        damage,
    })
}

impl HistoryReader {
    /// # Errors
    /// The file cannot be opened, is no history, is of another version, or its header is damaged.
    pub fn open(path: &Path) -> Result<Self, HistoryError> {
        let failed = |source| file_error(path, source);
        let mut input = BufReader::new(File::open(path).map_err(failed)?);
        check_prefix(path, &mut input)?;
        let mut payload = Vec::new();
        let block = block::read(&mut input, &mut payload).map_err(failed)?;
        let header = match block {
            Block::Payload => serde_json::from_slice(&payload).ok(),
            Block::End { .. } | Block::Damaged(_) => None,
        };
        let at = PREFIX_LEN as u64;
        let header = header.ok_or_else(|| HistoryError::Damaged {
            path: path.to_owned(),
            at,
            what: "its header cannot be read",
            operations: 0,
        })?;
        Ok(Self {
            path: path.to_owned(),
            input,
            header,
            at: at + block::HEAD_LEN + payload.len() as u64,
            next: payload.len(),
            payload,
            operations: 0,
            done: false,
        })
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Loads the next block. False: the history ended here, whole.
    fn advance(&mut self) -> Result<bool, HistoryError> {
        let block = block::read(&mut self.input, &mut self.payload)
            .map_err(|source| file_error(&self.path, source))?;
        self.next = 0;
        match block {
            Block::Payload => Ok(true),
            Block::End { operations } if operations != self.operations => {
                Err(self.damaged("operations are missing before its end mark"))
            }
            Block::End { .. } => {
                self.payload.clear();
                let mut more = [0];
                let trailing = block::fill(&mut self.input, &mut more)
                    .map_err(|source| file_error(&self.path, source))?;
                if trailing {
                    return Err(self.damaged("there is more behind its end mark"));
                }
                Ok(false)
            }
            Block::Damaged(what) => Err(self.damaged(what)),
        }
    }

    fn damaged(&self, what: &'static str) -> HistoryError {
        HistoryError::Damaged {
            path: self.path.clone(),
            at: self.at,
            what,
            operations: self.operations,
        }
    }

    fn read(&mut self) -> Result<Option<Operation>, HistoryError> {
        if self.next == self.payload.len() && !self.advance()? {
            return Ok(None);
        }
        let Some((operation, rest)) = record::decode(&self.payload[self.next..]) else {
            return Err(self.damaged("a block holds something that is no operation"));
        };
        self.next = self.payload.len() - rest.len();
        if rest.is_empty() {
            self.at += block::HEAD_LEN + self.payload.len() as u64;
        }
        self.operations += 1;
        Ok(Some(operation))
    }
}

impl Iterator for HistoryReader {
    type Item = Result<Operation, HistoryError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let item = self.read().transpose();
        self.done = !matches!(item, Some(Ok(_)));
        item
    }
}

fn check_prefix(path: &Path, input: &mut impl Read) -> Result<(), HistoryError> {
    let mut prefix = [0; PREFIX_LEN];
    let whole = block::fill(input, &mut prefix).map_err(|source| file_error(path, source))?;
    let [magic @ .., v0, v1, v2, v3] = prefix;
    if !whole || magic != MAGIC {
        return Err(HistoryError::NotAHistory {
            path: path.to_owned(),
        });
    }
    match u32::from_le_bytes([v0, v1, v2, v3]) {
        VERSION => Ok(()),
        found => Err(HistoryError::Version {
            path: path.to_owned(),
            found,
            expected: VERSION,
        }),
    }
}

fn file_error(path: &Path, source: std::io::Error) -> HistoryError {
    HistoryError::File {
        doing: "read",
        path: path.to_owned(),
        source,
    }
}
