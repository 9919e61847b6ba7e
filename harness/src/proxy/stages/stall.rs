//! Holds everything back and loses nothing.

use super::super::queue::{Exit, Piece};
use super::Stage;

#[derive(Debug)]
pub struct Stall;

impl Stage for Stall {
    fn take(&mut self, piece: Piece, exit: &mut Exit<'_>) {
        exit.never(piece);
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    #[test]
    fn bytes_and_ends_wait_for_ever() {
        let mut bench = Bench::new(Stall);
        bench.bytes(0, 5);
        bench.take(0, Piece::Reset);
        assert_eq!(bench.out(u64::from(u32::MAX)), "");
        assert_eq!(bench.traffic().held_back_bytes, 5);
        assert!(!bench.has_swallowed());
    }
}
