//! The end of a server's log, for errors.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Lines of a log that an error shows.
const LINES: usize = 12;
/// Enough for those lines; Java's stack traces are long.
const BYTES: u64 = 16 << 10;

/// The last lines of a component's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogTail {
    /// Empty: somebody else keeps its log.
    pub path: PathBuf,
    pub lines: Vec<String>,
}

impl LogTail {
    /// Of what was written to the file after its first `from` bytes; empty when it cannot be read.
    pub(crate) fn read(path: &Path, from: u64) -> Self {
        let bytes = end_of(path, from).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        Self {
            path: path.to_owned(),
            lines: lines[lines.len().saturating_sub(LINES)..]
                .iter()
                .map(|&line| line.to_owned())
                .collect(),
        }
    }
}

fn end_of(path: &Path, from: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(BYTES).max(from)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl fmt::Display for LogTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.as_os_str().is_empty() {
            return f.write_str("its log is where it runs");
        }
        if self.lines.is_empty() {
            return write!(f, "its log {} is empty", self.path.display());
        }
        write!(f, "end of {}:", self.path.display())?;
        self.lines
            .iter()
            .try_for_each(|line| write!(f, "\n    {line}"))
    }
}
