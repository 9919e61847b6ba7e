//! How many orders a message carries: the broker counts messages, and buyers wait behind orders.

use std::sync::atomic::{AtomicU64, Ordering};

/// What one more message counts in the average.
const SHARE: f64 = 1.0 / 64.0;

/// A moving average.
#[derive(Debug)]
pub(super) struct Filling(AtomicU64);

impl Default for Filling {
    fn default() -> Self {
        Self(AtomicU64::new(1.0_f64.to_bits()))
    }
}

impl Filling {
    /// Notes a message. Of two at the same moment one may be forgotten, which an average survives.
    pub fn note(&self, orders: usize) {
        let mean = self.mean();
        let mean = mean + SHARE * (orders as f64 - mean);
        self.0.store(mean.to_bits(), Ordering::Relaxed);
    }

    /// Orders a message; 1 before the first.
    pub fn mean(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_follows_what_is_sent() {
        let filling = Filling::default();
        assert!((filling.mean() - 1.0).abs() < 1e-9);
        for _ in 0..1_000 {
            filling.note(20);
        }
        assert!((filling.mean() - 20.0).abs() < 0.1, "{filling:?}");
        for _ in 0..1_000 {
            filling.note(1);
        }
        assert!((filling.mean() - 1.0).abs() < 0.1, "{filling:?}");
    }
}
