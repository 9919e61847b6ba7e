//! Which SKU a buyer wants: evenly, or the first most of all (Zipf).

use super::random::{below, unit};

#[derive(Debug, Clone)]
pub enum Skew {
    Even {
        skus: u64,
    },
    /// Shares of the SKUs up to and with each, ending at 1.
    Zipf {
        shares_until: Vec<f64>,
    },
}

impl Skew {
    /// SKU number `n` is wanted in proportion to `1 / n^exponent`; 0 is even. `skus` is taken as at least 1.
    pub fn new(skus: u32, exponent: f64) -> Self {
        let skus = skus.max(1);
        if exponent == 0.0 {
            return Self::Even { skus: skus.into() };
        }
        let weights = (1..=skus).map(|number| f64::from(number).powf(-exponent));
        let mut shares_until: Vec<f64> = weights
            .scan(0.0, |sum, weight| {
                *sum += weight;
                Some(*sum)
            })
            .collect();
        let total = shares_until.last().copied().unwrap_or(1.0);
        shares_until.iter_mut().for_each(|share| *share /= total);
        Self::Zipf { shares_until }
    }

    /// Index of the SKU that a draw stands for.
    pub fn sku(&self, random: u64) -> u32 {
        match self {
            Self::Even { skus } => below(random, *skus) as u32,
            Self::Zipf { shares_until } => {
                let at = unit(random);
                let sku = shares_until.partition_point(|until| *until <= at);
                sku.min(shares_until.len() - 1) as u32
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::draw;
    use super::*;

    fn counts(skus: u32, exponent: f64) -> Vec<u32> {
        let skew = Skew::new(skus, exponent);
        let mut counts = vec![0; skus as usize];
        for index in 0..100_000 {
            counts[skew.sku(draw(7, index)) as usize] += 1;
        }
        counts
    }

    #[test]
    fn shares_follow_the_exponent() {
        for exponent in [0.0_f64, 0.5, 1.0, 1.5] {
            let counts = counts(10, exponent);
            let total: f64 = (1..=10).map(|n| f64::from(n).powf(-exponent)).sum();
            for (number, count) in (1..).zip(counts) {
                let share = f64::from(number).powf(-exponent) / total;
                let off = f64::from(count) / 1e5 - share;
                // Five deviations of a count of 100,000 draws.
                let allowed = 5.0 * (share * (1.0 - share) / 1e5).sqrt();
                assert!(
                    off.abs() < allowed,
                    "SKU {number} at {exponent}: off by {off}"
                );
            }
        }
    }

    #[test]
    fn every_draw_is_a_sku() {
        for exponent in [0.0, 1.1, 1_000.0] {
            let skew = Skew::new(3, exponent);
            assert_eq!(skew.sku(0), 0);
            assert!(skew.sku(u64::MAX) < 3);
            assert_eq!(Skew::new(0, exponent).sku(u64::MAX), 0);
        }
    }
}
