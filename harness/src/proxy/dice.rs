//! Seeded randomness of one toxic on one direction of one connection.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The same seed gives the same numbers, whatever other connections and toxics draw.
#[derive(Debug)]
pub struct Dice {
    seed: u64,
    drawn: u64,
}

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self { seed, drawn: 0 }
    }

    /// Uniform in `middle` ± `spread`, never below 0.
    pub fn around(&mut self, middle: u64, spread: u64) -> u64 {
        if spread == 0 {
            return middle;
        }
        self.drawn += 1;
        let roll = xxh3_64_with_seed(&self.drawn.to_le_bytes(), self.seed);
        let width = spread.saturating_mul(2).saturating_add(1);
        middle.saturating_add(roll % width).saturating_sub(spread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_in_its_band_and_repeats() {
        let draw = |seed| {
            let mut dice = Dice::new(seed);
            (0..1_000).map(|_| dice.around(100, 30)).collect::<Vec<_>>()
        };
        assert!(draw(3).iter().all(|drawn| (70..=130).contains(drawn)));
        assert!(draw(3) == draw(3) && draw(3) != draw(4));
    }
}
