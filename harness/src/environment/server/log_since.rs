//! What a log says from some moment on, for faults whose proof is in a server's own words.

use std::fs;
use std::path::PathBuf;

#[derive(Debug)]
pub(crate) struct LogSince {
    path: PathBuf,
    /// Its length at that moment, bytes.
    from: u64,
}

impl LogSince {
    /// From now on.
    pub fn now(path: PathBuf) -> Self {
        Self {
            from: fs::metadata(&path).map_or(0, |meta| meta.len()),
            path,
        }
    }

    /// Nothing when it cannot be read.
    pub fn text(&self) -> String {
        let log = fs::read(&self.path).unwrap_or_default();
        let from = usize::try_from(self.from).unwrap_or(usize::MAX);
        String::from_utf8_lossy(log.get(from..).unwrap_or_default()).into_owned()
    }
}
