//! Histograms of times in microseconds.

use hdrhistogram::{Counter, Histogram};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::packed::{pack, unpack};
use super::summary::Percentiles;

/// Ten minutes: beyond every time-out that a drill sets. Larger values count as this one.
const MAX_US: u64 = 600_000_000;
const NS_PER_US: u64 = 1_000;

/// Times of one kind. Adding two is exact: all have the same buckets.
#[derive(Debug, Clone, PartialEq)]
pub struct Times<C: Counter>(Histogram<C>);

/// Of a phase: 3 significant digits.
pub type PhaseTimes = Times<u64>;
/// Of one second: 2 digits.
pub type SecondTimes = Times<u32>;

impl PhaseTimes {
    pub fn of_phase() -> Self {
        Self::with_digits(3)
    }
}

impl SecondTimes {
    pub fn of_second() -> Self {
        Self::with_digits(2)
    }
}

impl<C: Counter> Times<C> {
    fn with_digits(significant_digits: u8) -> Self {
        let histogram = Histogram::new_with_bounds(1, MAX_US, significant_digits);
        Self(histogram.expect("the bounds are constants, 1 and 600 seconds, the digits at most 3"))
    }

    /// # Errors
    /// The text holds no histogram of these bounds.
    pub fn unpacked(text: &str) -> Result<Self, String> {
        let histogram: Histogram<C> = unpack(text)?;
        if histogram.high() != MAX_US || histogram.low() != 1 {
            return Err(format!(
                "a histogram of {} to {} µs, not of 1 to {MAX_US}",
                histogram.low(),
                histogram.high()
            ));
        }
        Ok(Self(histogram))
    }

    /// Records the time between two moments.
    pub fn record(&mut self, from_ns: u64, to_ns: u64) {
        self.0
            .saturating_record(to_ns.saturating_sub(from_ns) / NS_PER_US);
    }

    pub fn add(&mut self, other: &Self) {
        self.0
            .add(&other.0)
            .expect("all were made with the same bounds, so every value fits");
    }

    pub fn histogram(&self) -> &Histogram<C> {
        &self.0
    }

    pub fn at(&self, quantile: f64) -> u64 {
        self.0.value_at_quantile(quantile)
    }

    pub fn percentiles(&self) -> Percentiles {
        Percentiles {
            p50: self.at(0.5),
            p90: self.at(0.9),
            p99: self.at(0.99),
            p999: self.at(0.999),
            max: self.0.max(),
        }
    }
}

impl<C: Counter> Serialize for Times<C> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&pack(&self.0))
    }
}

impl<'de, C: Counter> Deserialize<'de> for Times<C> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::unpacked(&text).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values_us: &[u64]) -> PhaseTimes {
        let mut times = PhaseTimes::of_phase();
        for us in values_us {
            times.record(0, us * NS_PER_US);
        }
        times
    }

    proptest! {
        #[test]
        fn parts_saved_and_added_are_the_whole(
            one in proptest::collection::vec(0_u64..700_000_000, 0..50),
            two in proptest::collection::vec(0_u64..700_000_000, 0..50),
        ) {
            let saved = serde_json::to_string(&of(&one)).unwrap();
            let mut sum: PhaseTimes = serde_json::from_str(&saved).unwrap();
            sum.add(&of(&two));
            let both: Vec<u64> = one.into_iter().chain(two).collect();
            prop_assert_eq!(sum.percentiles(), of(&both).percentiles());
            prop_assert_eq!(sum.histogram().len(), both.len() as u64);
        }
    }

    #[test]
    fn what_is_no_histogram_is_refused() {
        for text in ["\"\"", "\"AAAA\"", "\"é\"", "7"] {
            assert!(serde_json::from_str::<PhaseTimes>(text).is_err(), "{text}");
        }
    }
}
