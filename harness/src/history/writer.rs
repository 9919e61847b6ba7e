//! Writes a history from a thread of its own, so that the disk never holds up the load.
//!
//! Operations are gathered in buffers that go to the thread and come back empty: bounded memory,
//! no allocation in steady state. When the disk falls behind by all of them, `append` waits; that
//! shows as schedule lag, not as a hole in the history.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::operation::Operation;
use super::{Header, HistoryError, block, record};

/// One block: about 4,000 operations.
const BUFFER_BYTES: usize = 256 << 10;
/// 16 MiB, 2.5 seconds of 100,000 operations per second.
const BUFFERS: usize = 64;

/// A history being written. Dropped without [`HistoryWriter::finish`], the file has no end mark and
/// reads as cut off.
#[derive(Debug)]
pub struct HistoryWriter {
    path: PathBuf,
    buffer: Vec<u8>,
    operations: u64,
    waited: Duration,
    full: SyncSender<Vec<u8>>,
    empty: Receiver<Vec<u8>>,
    thread: JoinHandle<io::Result<File>>,
}

/// What a finished history holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryTotals {
    pub operations: u64,
    pub bytes: u64,
}

impl HistoryWriter {
    /// Creates the file with its header. `reasons` is `load::reason::reasons` of the target.
    pub fn create(path: &Path, seed: u64, reasons: Vec<String>) -> Result<Self, HistoryError> {
        let failed = |source| file_error("create", path, source);
        let mut file = File::create(path).map_err(failed)?;
        Header { seed, reasons }.write(&mut file).map_err(failed)?;
        let (full, from_load) = sync_channel(BUFFERS);
        let (to_load, empty) = sync_channel(BUFFERS);
        for _ in 1..BUFFERS {
            // The channel is as long as there are buffers: this cannot block or fail.
            let _ = to_load.try_send(Vec::with_capacity(BUFFER_BYTES));
        }
        let thread = thread::Builder::new()
            .name("history".into())
            .spawn(move || write_blocks(file, &from_load, &to_load))
            .map_err(|source| file_error("start the writer of", path, source))?;
        Ok(Self {
            path: path.to_owned(),
            buffer: Vec::with_capacity(BUFFER_BYTES),
            operations: 0,
            waited: Duration::ZERO,
            full,
            empty,
            thread,
        })
    }

    /// Records an operation; the order id is taken from `order_id`, not from the operation, so that
    /// it need not be copied first.
    ///
    /// # Errors
    /// The writer thread has stopped; [`HistoryWriter::finish`] says why.
    pub fn append(
        &mut self,
        operation: &Operation,
        order_id: Option<&str>,
    ) -> Result<(), HistoryError> {
        record::encode(operation, order_id, &mut self.buffer);
        self.operations += 1;
        // Room for one more record with an id of a sane length.
        if self.buffer.len() + 512 > BUFFER_BYTES {
            self.hand_over()?;
        }
        Ok(())
    }

    fn hand_over(&mut self) -> Result<(), HistoryError> {
        let next = match self.empty.try_recv() {
            Ok(next) => next,
            Err(_) => self.wait_for_the_disk()?,
        };
        let filled = std::mem::replace(&mut self.buffer, next);
        self.full.send(filled).map_err(|_| self.gone())
    }

    fn wait_for_the_disk(&mut self) -> Result<Vec<u8>, HistoryError> {
        let since = Instant::now();
        let next = self.empty.recv().map_err(|_| self.gone())?;
        self.waited += since.elapsed();
        Ok(next)
    }

    /// How long [`HistoryWriter::append`] has waited for the disk, in all.
    pub fn waited(&self) -> Duration {
        self.waited
    }

    fn gone(&self) -> HistoryError {
        HistoryError::WriterGone {
            path: self.path.clone(),
        }
    }

    /// Writes what is left and the end mark, and waits until the file is on disk.
    pub fn finish(self) -> Result<HistoryTotals, HistoryError> {
        let Self {
            path,
            buffer,
            operations,
            full,
            thread,
            ..
        } = self;
        if !buffer.is_empty() {
            // If the thread is gone, joining it tells why.
            let _ = full.send(buffer);
        }
        drop(full);
        let failed = |source| file_error("write", &path, source);
        let written = thread
            .join()
            .map_err(|_| HistoryError::WriterGone { path: path.clone() })?;
        let mut file = written.map_err(failed)?;
        block::write_end(&mut file, operations).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        let bytes = file.metadata().map_err(failed)?.len();
        Ok(HistoryTotals { operations, bytes })
    }
}

fn write_blocks(
    mut file: File,
    full: &Receiver<Vec<u8>>,
    empty: &SyncSender<Vec<u8>>,
) -> io::Result<File> {
    let mut staged = Vec::with_capacity(BUFFER_BYTES + 64);
    while let Ok(mut buffer) = full.recv() {
        staged.clear();
        block::write(&mut staged, &buffer)?;
        file.write_all(&staged)?;
        buffer.clear();
        // The load may have finished; then nobody wants the buffer back.
        let _ = empty.try_send(buffer);
    }
    Ok(file)
}

fn file_error(doing: &'static str, path: &Path, source: io::Error) -> HistoryError {
    HistoryError::File {
        doing,
        path: path.to_owned(),
        source,
    }
}
