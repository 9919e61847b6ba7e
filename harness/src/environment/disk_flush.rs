//! How long the disk below the servers' files takes to keep a write for good. Brokers and databases wait for that with every
//! message and transaction: on a slow disk a drill is one of the disk.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

const WRITES: usize = 15;
const BLOCK: [u8; 4096] = [0; 4096];
/// Sends and commits that flush take several of these; a buyer waits for all.
const SLOW: Duration = Duration::from_millis(20);

/// Of some small writes in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskFlush {
    median: Duration,
    longest: Duration,
}

impl DiskFlush {
    /// Writes a file in `folder` and removes it: some ms on a good disk, one or two seconds on a bad one.
    ///
    /// # Errors
    /// Nothing can be written there.
    pub fn measure(folder: &Path) -> io::Result<Self> {
        let path = folder.join("flushed");
        let mut file = File::create(&path)?;
        let mut flush = || {
            let begun = Instant::now();
            file.write_all(&BLOCK)?;
            file.sync_data()?;
            Ok(begun.elapsed())
        };
        let times = (0..WRITES).map(|_| flush()).collect::<io::Result<Vec<_>>>();
        fs::remove_file(&path)?;
        Ok(Self::of(times?))
    }

    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |place: usize| times.get(place).copied().unwrap_or_default();
        Self {
            median: at(times.len() / 2),
            longest: at(times.len().saturating_sub(1)),
        }
    }

    /// What to do where it is slow.
    #[must_use]
    pub fn warning(&self, folder: &Path) -> Option<String> {
        (self.median >= SLOW).then(|| {
            format!(
                "the disk is slow: {self}. Servers that keep every write for good will be slow too. Their files are in {}; \
                 TMPDIR=/dev/shm puts them into memory",
                folder.display()
            )
        })
    }
}

impl fmt::Display for DiskFlush {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let Self { median, longest } = *self;
        write!(
            f,
            "a flush takes {:.1} ms, at most {:.1} ms",
            ms(median),
            ms(longest)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_measured_and_left_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let flush = DiskFlush::measure(folder.path()).unwrap();
        assert!(flush.median <= flush.longest && flush.longest > Duration::ZERO);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(DiskFlush::measure(&folder.path().join("none")).is_err());
    }

    #[test]
    fn slow_is_what_half_of_the_writes_are() {
        let ms = |times: [u64; 3]| DiskFlush::of(times.map(Duration::from_millis).to_vec());
        let folder = Path::new("/data");
        assert_eq!(ms([900, 1, 19]).warning(folder), None);
        let warning = ms([20, 1, 98]).warning(folder).unwrap();
        for said in ["takes 20.0 ms", "at most 98.0 ms", "/data", "TMPDIR="] {
            assert!(warning.contains(said), "{said}: {warning}");
        }
    }
}
