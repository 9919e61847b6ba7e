//! A black hole: no byte passes. The end of the stream does, as in Toxiproxy.

use std::time::Duration;

use super::super::queue::{Exit, Piece};
use super::Stage;

#[derive(Debug)]
pub struct Timeout {
    timeout: Option<Duration>,
}

impl Timeout {
    pub fn new(timeout_ms: u64) -> Self {
        Self {
            timeout: (timeout_ms > 0).then(|| Duration::from_millis(timeout_ms)),
        }
    }
}

impl Stage for Timeout {
    fn begin(&mut self, exit: &mut Exit<'_>) {
        if let Some(timeout) = self.timeout {
            exit.after(timeout, Piece::Cut);
        }
    }

    fn take(&mut self, piece: Piece, exit: &mut Exit<'_>) {
        match piece {
            Piece::Bytes(bytes) => exit.swallow(bytes.len()),
            _ => {
                exit.clear();
                exit.at_once(piece);
            }
        }
    }

    /// Also before the first byte: who removes a black hole relies on every connection being new.
    fn has_swallowed(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    #[test]
    fn swallows_bytes_and_closes_in_time() {
        let mut bench = Bench::new(Timeout::new(100));
        bench.bytes(99, 3);
        assert_eq!(bench.out(99), "");
        assert_eq!(bench.out(100), "cut");
        assert_eq!(bench.traffic().held_back_bytes, 3);
    }

    #[test]
    fn the_end_does_not_wait_for_the_time() {
        let mut bench = Bench::new(Timeout::new(100));
        bench.take(10, Piece::End);
        assert_eq!(bench.out(10), "end");
    }

    #[test]
    fn without_a_time_it_stays_open() {
        let mut bench = Bench::new(Timeout::new(0));
        bench.bytes(0, 3);
        assert_eq!(bench.out(u64::from(u32::MAX)), "");
        assert!(bench.has_swallowed());
    }
}
