//! Named random streams of a seed, as pure functions of an index: what one stream gives never depends
//! on how much was taken from another.

use std::ops::RangeInclusive;

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A named stream of a seed.
pub fn stream(seed: u64, name: &str) -> u64 {
    xxh3_64_with_seed(name.as_bytes(), seed)
}

pub fn draw(stream: u64, index: u64) -> u64 {
    xxh3_64_with_seed(&index.to_le_bytes(), stream)
}

/// Evenly to `0..limit`, by the high half of the product.
pub fn below(random: u64, limit: u64) -> u64 {
    ((u128::from(random) * u128::from(limit)) >> 64) as u64
}

/// Evenly to `0.0..1.0`: 53 bits, what a double holds exactly.
pub fn unit(random: u64) -> f64 {
    (random >> 11) as f64 / (1_u64 << 53) as f64
}

/// A stream as what comes next of it, for plans that are drawn step by step.
#[derive(Debug)]
pub struct Dice {
    stream: u64,
    rolled: u64,
}

impl Dice {
    pub fn new(stream: u64) -> Self {
        Self { stream, rolled: 0 }
    }

    pub fn roll(&mut self) -> u64 {
        self.rolled += 1;
        draw(self.stream, self.rolled)
    }

    /// Evenly one of these numbers.
    pub fn within(&mut self, range: RangeInclusive<u64>) -> u64 {
        let (first, last) = range.into_inner();
        first + below(self.roll(), last - first + 1)
    }

    /// True with this chance.
    pub fn chance(&mut self, share: f64) -> bool {
        unit(self.roll()) < share
    }

    /// Evenly one of them, which must not be empty.
    pub fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[below(self.roll(), choices.len() as u64) as usize].clone()
    }

    /// The numbers below `count` in a random order (Fisher-Yates).
    pub fn shuffled(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            order.swap(last, below(self.roll(), last as u64 + 1) as usize);
        }
        order
    }
}
