//! A reset instead of the first bytes.

use std::time::Duration;

use super::super::queue::{Exit, Piece};
use super::Stage;

#[derive(Debug)]
pub struct ResetPeer {
    timeout: Duration,
    is_armed: bool,
}

impl ResetPeer {
    pub fn new(timeout_ms: u64) -> Self {
        Self {
            timeout: Duration::from_millis(timeout_ms),
            is_armed: false,
        }
    }
}

impl Stage for ResetPeer {
    fn take(&mut self, piece: Piece, exit: &mut Exit<'_>) {
        if let Piece::Bytes(bytes) = piece {
            exit.swallow(bytes.len());
        }
        if !self.is_armed {
            self.is_armed = true;
            exit.after(self.timeout, Piece::Reset);
        }
    }

    fn has_swallowed(&self) -> bool {
        self.is_armed
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    #[test]
    fn the_first_piece_starts_the_clock() {
        let mut bench = Bench::new(ResetPeer::new(100));
        assert!(!bench.has_swallowed(), "an idle connection may go on");
        bench.bytes(1_000, 3);
        bench.bytes(1_050, 4);
        assert_eq!(bench.out(1_099), "");
        assert_eq!(bench.out(1_100), "reset");
        assert_eq!(bench.traffic().held_back_bytes, 7);
    }
}
