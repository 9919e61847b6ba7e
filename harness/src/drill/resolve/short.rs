//! How `--short` shrinks a drill: rates and times alike, wherever they stand.

use crate::drill::file::ShortSection;
use crate::drill::range::{Rate, Share};

/// Shares of rates and of times that are left; 1 and 1 for a drill in full.
#[derive(Debug, Clone, Copy)]
pub struct Shrink {
    rate_share: f64,
    time_share: f64,
}

impl Shrink {
    pub fn not_at_all() -> Self {
        Self {
            rate_share: 1.0,
            time_share: 1.0,
        }
    }

    pub fn by(section: &ShortSection) -> Self {
        Self {
            rate_share: section.rate_share.get(),
            time_share: section.duration_share.get(),
        }
    }

    /// At this share of the rates that are left.
    pub fn at_rate(self, share: Share) -> Self {
        Self {
            rate_share: self.rate_share * share.get(),
            ..self
        }
    }

    pub fn rate(self, rate: Rate) -> f64 {
        rate.get() * self.rate_share
    }

    /// A point in time.
    pub fn at(self, ms: u64) -> u64 {
        (ms as f64 * self.time_share) as u64
    }

    /// A length of time; never shrinks to nothing.
    pub fn length(self, ms: u64) -> u64 {
        self.at(ms).max(1)
    }

    /// A number of buyers at the same time; never shrinks to nobody.
    pub fn buyers(self, buyers: u32) -> u32 {
        ((f64::from(buyers) * self.rate_share).round() as u32).max(1)
    }

    /// A number of requests in a length of time that shrinks too.
    pub fn requests(self, requests: f64) -> f64 {
        requests * self.rate_share * self.time_share
    }
}

/// Half a quarter: what `--short` does to a drill that does not say.
impl Default for ShortSection {
    fn default() -> Self {
        let share = |value| Share::new(value).expect("a share");
        Self {
            rate_share: share(0.25),
            duration_share: share(0.5),
        }
    }
}
