//! Histograms of times in microseconds.

use hdrhistogram::{Counter, Histogram};

use super::summary::Percentiles;

/// Ten minutes: beyond every time-out that a drill sets. Larger values count as this one.
const MAX_US: u64 = 600_000_000;
const NS_PER_US: u64 = 1_000;

/// A histogram of 3 significant digits for a summary, of 2 for one second of a timeline.
pub fn histogram<C: Counter>(significant_digits: u8) -> Histogram<C> {
    Histogram::new_with_bounds(1, MAX_US, significant_digits)
        .expect("the bounds are constants, 1 and 600 seconds, the digits at most 3")
}

/// Records the time between two moments.
pub fn record<C: Counter>(histogram: &mut Histogram<C>, from_ns: u64, to_ns: u64) {
    histogram.saturating_record(to_ns.saturating_sub(from_ns) / NS_PER_US);
}

pub fn percentiles<C: Counter>(histogram: &Histogram<C>) -> Percentiles {
    let at = |quantile| histogram.value_at_quantile(quantile);
    Percentiles {
        p50: at(0.5),
        p90: at(0.9),
        p99: at(0.99),
        p999: at(0.999),
        max: histogram.max(),
    }
}

/// All histograms in one.
pub fn merged<'h>(histograms: impl Iterator<Item = &'h Histogram<u64>>) -> Histogram<u64> {
    let mut sum = histogram(3);
    for one in histograms {
        sum.add(one)
            .expect("all were made with the same bounds, so every value fits");
    }
    sum
}
