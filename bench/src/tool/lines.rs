//! Latencies as lines `latency_us <per cent> <microseconds>`: what our scripts let a tool print when it has a
//! language of its own, because what it prints by itself leaves p99.9 out.

use super::{Curve, Latency, ReadError};
use crate::request::PERCENTS;

/// `PERCENTS` as the elements of a list in Lua or JavaScript.
pub fn percents() -> String {
    PERCENTS.map(|percent| percent.to_string()).join(", ")
}

pub fn read(printed: &str) -> Result<Latency, ReadError> {
    let lines = printed.lines().filter_map(point);
    Curve::new(lines.collect())
        .latency()
        .ok_or(ReadError::Missing("line `latency_us` for p50, p99, p99.9"))
}

fn point(line: &str) -> Option<(f64, f64)> {
    let rest = line.trim().strip_prefix("latency_us ")?;
    let (share, us) = rest.split_once(' ')?;
    Some((share.parse::<f64>().ok()? / 100.0, us.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_three_figures_or_none() {
        let printed = "  latency_us 50 10\nlatency_us 99 20.5\nother 99.9 7\nlatency_us 99.9 30";
        let latency = read(printed).unwrap();
        assert_eq!(
            [latency.p50_us, latency.p99_us, latency.p999_us].map(|us| (us * 10.0) as u64),
            [100, 205, 300]
        );
        for printed in [
            "",
            "latency_us 50 10",
            "latency_us fifty 10",
            "latency_us 50",
        ] {
            assert!(read(printed).is_err(), "{printed}");
        }
    }
}
