//! The end of the stream comes late.

use std::time::Duration;

use super::super::queue::{Exit, Piece};
use super::Stage;

#[derive(Debug)]
pub struct SlowClose {
    delay: Duration,
}

impl SlowClose {
    pub fn new(delay_ms: u64) -> Self {
        Self {
            delay: Duration::from_millis(delay_ms),
        }
    }
}

impl Stage for SlowClose {
    fn take(&mut self, piece: Piece, exit: &mut Exit<'_>) {
        match piece {
            Piece::Bytes(_) => exit.at_once(piece),
            _ => exit.after(self.delay, piece),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    #[test]
    fn bytes_pass_and_the_end_waits() {
        let mut bench = Bench::new(SlowClose::new(100));
        bench.bytes(0, 3);
        bench.take(10, Piece::End);
        assert_eq!(bench.out(109), "3");
        assert_eq!(bench.out(110), "end");
    }
}
