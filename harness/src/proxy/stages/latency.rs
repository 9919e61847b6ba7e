//! Every chunk comes later; order is kept.

use std::time::Duration;

use super::super::dice::Dice;
use super::super::queue::{Exit, Piece};
use super::Stage;

/// What a second of delay holds at 32 Mbit/s, per direction and connection.
const ROOM_BYTES: usize = 4 << 20;

#[derive(Debug)]
pub struct Latency {
    latency_ms: u64,
    jitter_ms: u64,
    dice: Dice,
}

impl Latency {
    pub fn new(latency_ms: u64, jitter_ms: u64, dice: Dice) -> Self {
        Self {
            latency_ms,
            jitter_ms,
            dice,
        }
    }
}

impl Stage for Latency {
    fn take(&mut self, piece: Piece, exit: &mut Exit<'_>) {
        if matches!(piece, Piece::Bytes(_)) {
            let delay_ms = self.dice.around(self.latency_ms, self.jitter_ms);
            exit.after(Duration::from_millis(delay_ms), piece);
        } else {
            // As in Toxiproxy: the end comes right behind the last bytes.
            exit.at_once(piece);
        }
    }

    fn room_bytes(&self) -> usize {
        ROOM_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    #[test]
    fn chunks_wait_side_by_side_and_the_end_is_last() {
        let mut bench = Bench::new(Latency::new(100, 0, Dice::new(1)));
        bench.bytes(0, 10);
        bench.bytes(50, 20);
        bench.take(60, Piece::End);
        assert_eq!(bench.out(99), "");
        assert_eq!(bench.out(100), "10");
        assert_eq!(bench.out(150), "20 end");
        assert_eq!(bench.traffic().delayed_bytes, 30);
    }
}
