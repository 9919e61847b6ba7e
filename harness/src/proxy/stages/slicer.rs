//! Many small chunks instead of a large one.

use std::time::Duration;

use tokio::time::Instant;

use super::super::dice::Dice;
use super::super::queue::{Exit, Piece};
use super::Stage;

#[derive(Debug)]
pub struct Slicer {
    average: usize,
    variation: usize,
    pause: Duration,
    dice: Dice,
    free_at: Option<Instant>,
}

impl Slicer {
    /// A slice has at least one byte, whatever is asked.
    pub fn new(average_bytes: u64, variation_bytes: u64, pause_us: u64, dice: Dice) -> Self {
        let bytes = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        Self {
            average: bytes(average_bytes).max(1),
            variation: bytes(variation_bytes),
            pause: Duration::from_micros(pause_us),
            dice,
            free_at: None,
        }
    }

    fn slice_bytes(&mut self) -> usize {
        let drawn = self.dice.around(self.average as u64, self.variation as u64);
        usize::try_from(drawn).unwrap_or(usize::MAX).max(1)
    }
}

impl Stage for Slicer {
    fn take(&mut self, piece: Piece, exit: &mut Exit<'_>) {
        let Piece::Bytes(bytes) = piece else {
            return exit.at_once(piece);
        };
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let (slice, after) = rest.split_at(self.slice_bytes().min(rest.len()));
            rest = after;
            let due = self.free_at.map_or(exit.now, |free| free.max(exit.now));
            self.free_at = due.checked_add(self.pause);
            exit.at(Some(due), Piece::Bytes(slice.to_vec()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    #[test]
    fn slices_have_their_size_and_their_pause() {
        let mut bench = Bench::new(Slicer::new(40, 0, 50_000, Dice::new(1)));
        bench.bytes(0, 100);
        assert_eq!(bench.out(0), "40");
        assert_eq!(bench.out(100), "40 20");
    }

    #[test]
    fn sizes_vary_in_their_band_and_nothing_is_lost() {
        let mut bench = Bench::new(Slicer::new(40, 10, 0, Dice::new(1)));
        bench.bytes(0, 1_000);
        let out = bench.out(0);
        let sizes: Vec<usize> = out.split(' ').map(|size| size.parse().unwrap()).collect();
        assert_eq!(sizes.iter().sum::<usize>(), 1_000);
        let (_, whole) = sizes.split_last().unwrap();
        assert!(whole.iter().all(|size| (30..=50).contains(size)), "{out}");
    }

    #[test]
    fn a_size_of_0_is_one_byte() {
        let mut bench = Bench::new(Slicer::new(0, 0, 0, Dice::new(1)));
        bench.bytes(0, 3);
        assert_eq!(bench.out(0), "1 1 1");
    }
}
