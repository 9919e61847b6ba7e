//! Latencies as tools report them: points of a percentile curve.

use serde::Serialize;

/// 99.9 by 100 is not quite 0.999.
const ALIKE: f64 = 1e-9;

/// Share of requests, and the microseconds that they did not exceed; ascending.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Curve {
    points: Vec<(f64, f64)>,
}

impl Curve {
    pub fn new(mut points: Vec<(f64, f64)>) -> Self {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self { points }
    }

    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// Between two points the line between them; None outside of what was reported.
    pub fn us_at(&self, share: f64) -> Option<f64> {
        let above = self.points.partition_point(|(at, _)| *at < share - ALIKE);
        let (to, to_us) = *self.points.get(above)?;
        if to <= share + ALIKE {
            return Some(to_us);
        }
        let (from, from_us) = *self.points.get(above.checked_sub(1)?)?;
        Some(from_us + (to_us - from_us) * (share - from) / (to - from))
    }

    /// The three figures that are compared; None when the curve is too short.
    pub fn latency(self) -> Option<Latency> {
        Some(Latency {
            p50_us: self.us_at(0.5)?,
            p99_us: self.us_at(0.99)?,
            p999_us: self.us_at(0.999)?,
            curve: self,
        })
    }
}

/// What a tool says of one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Latency {
    pub p50_us: f64,
    pub p99_us: f64,
    pub p999_us: f64,
    pub curve: Curve,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_points_and_not_beyond() {
        let curve = Curve::new(vec![(0.99, 300.0), (0.5, 100.0), (0.9, 200.0)]);
        let cases = [
            (0.49, None),
            (0.5, Some(100)),
            (0.7, Some(150)),
            (0.9, Some(200)),
            (0.99, Some(300)),
            (0.999, None),
        ];
        for (share, expected) in cases {
            let us = curve.us_at(share).map(|us| us.round() as i64);
            assert_eq!(us, expected, "{share}");
        }
        assert_eq!(curve.latency(), None);
        assert_eq!(Curve::default().us_at(0.5), None);
    }
}
