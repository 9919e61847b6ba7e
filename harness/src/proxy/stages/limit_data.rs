//! A connection that breaks after so many bytes.

use super::super::queue::{Exit, Piece};
use super::Stage;

#[derive(Debug)]
pub struct LimitData {
    limit: u64,
    is_over: bool,
}

impl LimitData {
    pub fn new(limit_bytes: u64) -> Self {
        Self {
            limit: limit_bytes,
            is_over: false,
        }
    }
}

impl Stage for LimitData {
    fn take(&mut self, piece: Piece, exit: &mut Exit<'_>) {
        let Piece::Bytes(mut bytes) = piece else {
            return exit.at_once(piece);
        };
        let left = self.limit.saturating_sub(exit.queued_bytes());
        let kept = usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()));
        exit.swallow(bytes.len() - kept);
        bytes.truncate(kept);
        if kept > 0 {
            exit.at_once(Piece::Bytes(bytes));
        }
        if !self.is_over && exit.queued_bytes() >= self.limit {
            self.is_over = true;
            exit.at_once(Piece::Close);
        }
    }

    fn has_swallowed(&self) -> bool {
        self.is_over
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    #[test]
    fn the_last_byte_allowed_is_followed_by_the_cut() {
        let mut bench = Bench::new(LimitData::new(10));
        bench.bytes(0, 6);
        assert_eq!(bench.out(0), "6");
        bench.bytes(0, 6);
        assert_eq!(bench.out(0), "4 close");
        assert_eq!(bench.traffic().held_back_bytes, 2);
    }

    #[test]
    fn a_limit_of_0_cuts_at_the_first_byte() {
        let mut bench = Bench::new(LimitData::new(0));
        assert_eq!(bench.out(0), "");
        bench.bytes(0, 1);
        assert_eq!(bench.out(0), "close");
    }
}
