//! A slow link.

use std::time::Duration;

use tokio::time::Instant;

use super::super::queue::{Exit, Piece};
use super::Stage;

/// Chunks that take longer are sent in parts, so that a slow link trickles instead of jumping.
const PART_MS: u64 = 100;

#[derive(Debug)]
pub struct Bandwidth {
    /// KB/s, which is bytes a millisecond.
    rate: u64,
    free_at: Option<Instant>,
}

impl Bandwidth {
    pub fn new(rate: u64) -> Self {
        Self {
            rate,
            free_at: None,
        }
    }

    fn send(&mut self, part: &[u8], exit: &mut Exit<'_>) {
        let begin = self.free_at.map_or(exit.now, |free| free.max(exit.now));
        let wire_us = (part.len() as u64).saturating_mul(1_000) / self.rate;
        let due = begin + Duration::from_micros(wire_us);
        self.free_at = Some(due);
        exit.at(Some(due), Piece::Bytes(part.to_vec()));
    }
}

impl Stage for Bandwidth {
    fn take(&mut self, piece: Piece, exit: &mut Exit<'_>) {
        match piece {
            Piece::Bytes(_) if self.rate == 0 => exit.never(piece),
            Piece::Bytes(bytes) => {
                let part_bytes = usize::try_from(self.rate.saturating_mul(PART_MS));
                for part in bytes.chunks(part_bytes.unwrap_or(usize::MAX)) {
                    self.send(part, exit);
                }
            }
            _ => exit.at_once(piece),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    #[test]
    fn bytes_come_at_the_rate_and_a_pause_is_not_saved_up() {
        let mut bench = Bench::new(Bandwidth::new(1));
        bench.bytes(0, 250);
        bench.take(0, Piece::End);
        assert_eq!(bench.out(99), "");
        assert_eq!(bench.out(200), "100 100");
        assert_eq!(bench.out(250), "50 end");
        bench.bytes(1_000, 100);
        assert_eq!(bench.out(1_099), "");
        assert_eq!(bench.out(1_100), "100");
    }

    #[test]
    fn rate_0_holds_everything_and_counts_it() {
        let mut bench = Bench::new(Bandwidth::new(0));
        bench.bytes(0, 5);
        bench.take(0, Piece::End);
        assert_eq!(bench.out(u64::from(u32::MAX)), "");
        assert_eq!(bench.traffic().held_back_bytes, 5);
    }
}
