//! One layer of a schedule: pieces one after the other, placed in time.

use super::piece::{Piece, pieces};
use super::schedule::Shape;

#[derive(Debug)]
pub struct Layer {
    pieces: Vec<Placed>,
}

#[derive(Debug)]
struct Placed {
    start_ms: u64,
    /// Units of the pieces before it.
    before: u64,
    piece: Piece,
}

impl Placed {
    fn end_ms(&self) -> u64 {
        self.start_ms + self.piece.length_ms
    }
}

impl Layer {
    pub fn new<'s>(at_ms: u64, shapes: impl IntoIterator<Item = &'s Shape>) -> Self {
        let (mut start_ms, mut before) = (at_ms, 0);
        let mut placed = Vec::new();
        for piece in shapes.into_iter().flat_map(pieces) {
            let next = (start_ms + piece.length_ms, before + piece.units);
            placed.push(Placed {
                start_ms,
                before,
                piece,
            });
            (start_ms, before) = next;
        }
        placed.retain(|one| one.piece.length_ms > 0);
        Self { pieces: placed }
    }

    /// All times at which a piece starts or ends, and the start of the schedule.
    pub fn borders(&self) -> impl Iterator<Item = u64> {
        let ends = self
            .pieces
            .iter()
            .flat_map(|one| [one.start_ms, one.end_ms()]);
        [0].into_iter().chain(ends)
    }

    /// What the layer has brought up to a time.
    pub fn units_until(&self, ms: u64) -> u64 {
        self.at(ms).map_or(0, |one| {
            one.before + one.piece.units_until(ms - one.start_ms)
        })
    }

    /// Rates in thousandths per second at both ends of a stretch that no border divides.
    pub fn milli_between(&self, from_ms: u64, to_ms: u64) -> (f64, f64) {
        let running = self.at(from_ms).filter(|one| from_ms < one.end_ms());
        running.map_or((0.0, 0.0), |one| {
            let rate = |ms| one.piece.milli_at(ms - one.start_ms);
            (rate(from_ms), rate(to_ms))
        })
    }

    /// The last piece that has started.
    fn at(&self, ms: u64) -> Option<&Placed> {
        let started = self.pieces.partition_point(|one| one.start_ms <= ms);
        self.pieces[..started].last()
    }
}
