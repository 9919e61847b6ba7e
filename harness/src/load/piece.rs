//! Shapes as pieces of constant or linear rate, with exact integrals.
//!
//! Arrivals are counted in half-millionths: a rate in thousandths per second times milliseconds is in
//! millionths, doubled because a ramp is half of base times height.

use super::schedule::Shape;

/// Half-millionths of one arrival.
pub const UNIT: u64 = 2_000_000;

/// A stretch of constant or linear rate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub length_ms: u64,
    /// Arrivals in it, in `UNIT`s.
    pub units: u64,
    slope: Slope,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Slope {
    /// Evenly over the length.
    None,
    /// Between rates in thousandths per second.
    Linear { from_milli: u64, to_milli: u64 },
}

impl Piece {
    fn constant(rate_per_s: f64, length_ms: u64) -> Self {
        Self {
            length_ms,
            units: 2 * milli(rate_per_s) * length_ms,
            slope: Slope::None,
        }
    }

    fn linear(from_per_s: f64, to_per_s: f64, length_ms: u64) -> Self {
        let (from_milli, to_milli) = (milli(from_per_s), milli(to_per_s));
        if from_milli == to_milli {
            return Self::constant(from_per_s, length_ms);
        }
        Self {
            length_ms,
            units: (from_milli + to_milli) * length_ms,
            slope: Slope::Linear {
                from_milli,
                to_milli,
            },
        }
    }

    /// So many arrivals evenly over the length; what falls into no time is left out.
    fn recorded(requests: u64, length_ms: u64) -> Self {
        Self {
            length_ms,
            units: requests * UNIT * u64::from(length_ms > 0),
            slope: Slope::None,
        }
    }

    /// What has come `ms` after the start, whole units only.
    pub fn units_until(&self, ms: u64) -> u64 {
        if ms >= self.length_ms {
            return self.units;
        }
        let (ms, length_ms) = (i128::from(ms), i128::from(self.length_ms));
        let units = match self.slope {
            Slope::None => i128::from(self.units) * ms / length_ms,
            Slope::Linear {
                from_milli,
                to_milli,
            } => {
                let (from, to) = (i128::from(from_milli), i128::from(to_milli));
                (2 * from * length_ms * ms + (to - from) * ms * ms) / length_ms
            }
        };
        u64::try_from(units).unwrap_or(0)
    }

    /// Thousandths per second, `ms` after the start.
    pub fn milli_at(&self, ms: u64) -> f64 {
        let length_ms = self.length_ms.max(1) as f64;
        match self.slope {
            Slope::None => self.units as f64 / (2.0 * length_ms),
            Slope::Linear {
                from_milli,
                to_milli,
            } => {
                let (from, to) = (from_milli as f64, to_milli as f64);
                from + (to - from) * ms as f64 / length_ms
            }
        }
    }
}

/// The pieces of a shape, one after the other.
pub fn pieces(shape: &Shape) -> Vec<Piece> {
    match *shape {
        Shape::Constant {
            rate_per_s,
            duration_ms,
        } => vec![Piece::constant(rate_per_s, duration_ms)],
        Shape::Ramp {
            from_per_s,
            to_per_s,
            duration_ms,
        } => vec![Piece::linear(from_per_s, to_per_s, duration_ms)],
        Shape::Steps {
            from_per_s,
            to_per_s,
            steps,
            duration_ms,
        } => stairs((from_per_s, to_per_s), steps, duration_ms),
        Shape::Spike {
            base_per_s,
            peak_per_s,
            peak_at_ms,
            peak_ms,
            duration_ms,
        } => {
            let before = peak_at_ms.min(duration_ms);
            let peak = peak_ms.min(duration_ms - before);
            vec![
                Piece::constant(base_per_s, before),
                Piece::constant(peak_per_s, peak),
                Piece::constant(base_per_s, duration_ms - before - peak),
            ]
        }
        Shape::Cliff {
            before_per_s,
            before_ms,
            peak_per_s,
            fall_ms,
            after_per_s,
            duration_ms,
        } => {
            let before = before_ms.min(duration_ms);
            let fall = fall_ms.min(duration_ms - before);
            vec![
                Piece::constant(before_per_s, before),
                Piece::linear(peak_per_s, after_per_s, fall),
                Piece::constant(after_per_s, duration_ms - before - fall),
            ]
        }
        Shape::Trace { ref points, .. } => recording(points),
    }
}

fn stairs(rates: (f64, f64), steps: u32, duration_ms: u64) -> Vec<Piece> {
    let (from, to) = rates;
    let start = |step: u32| duration_ms * u64::from(step) / u64::from(steps.max(1));
    let rate = |step: u32| from + (to - from) * f64::from(step) / f64::from((steps - 1).max(1));
    (0..steps)
        .map(|step| Piece::constant(rate(step), start(step + 1) - start(step)))
        .collect()
}

fn recording(points: &[(u64, u64)]) -> Vec<Piece> {
    points
        .windows(2)
        .map(|pair| Piece::recorded(pair[0].1, pair[1].0.saturating_sub(pair[0].0)))
        .collect()
}

/// Thousandths per second; the cast takes what is no rate (negative, NaN) as 0.
fn milli(rate_per_s: f64) -> u64 {
    (rate_per_s * 1000.0).round() as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn steps_go_up_and_down_in_equal_parts() {
        let rates = |from_per_s, to_per_s, steps| {
            let pieces = pieces(&Shape::Steps {
                from_per_s,
                to_per_s,
                steps,
                duration_ms: 1_000,
            });
            let each = pieces.iter().map(|one| (one.milli_at(0), one.length_ms));
            each.collect::<Vec<_>>()
        };
        assert_eq!(
            rates(1.0, 3.0, 3),
            [(1_000.0, 333), (2_000.0, 333), (3_000.0, 334)]
        );
        assert_eq!(rates(3.0, 1.0, 2), [(3_000.0, 500), (1_000.0, 500)]);
        assert_eq!(rates(3.0, 1.0, 1), [(3_000.0, 1_000)]);
        assert_eq!(rates(3.0, 1.0, 0), []);
    }

    #[test]
    fn a_cliff_stands_falls_and_levels_out_within_its_duration() {
        let cliff = |before_ms, fall_ms| {
            let pieces = pieces(&Shape::Cliff {
                before_per_s: 1.0,
                before_ms,
                peak_per_s: 9.0,
                fall_ms,
                after_per_s: 2.0,
                duration_ms: 1_000,
            });
            let ends = |one: &Piece| (one.length_ms, one.milli_at(0), one.milli_at(one.length_ms));
            pieces.iter().map(ends).collect::<Vec<_>>()
        };
        assert_eq!(
            cliff(200, 300),
            [
                (200, 1_000.0, 1_000.0),
                (300, 9_000.0, 2_000.0),
                (500, 2_000.0, 2_000.0)
            ]
        );
        assert_eq!(cliff(200, 3_000)[1].0, 800);
        assert_eq!(cliff(2_000, 300)[0].0, 1_000);
    }

    #[test]
    fn a_trace_holds_the_requests_of_its_lines() {
        let points = vec![(0, 7), (250, 0), (500, 3), (1_000, 0)];
        let pieces = pieces(&Shape::Trace {
            file: "t.csv".into(),
            points,
        });
        let each: Vec<_> = pieces
            .iter()
            .map(|p| (p.length_ms, p.units / UNIT))
            .collect();
        assert_eq!(each, [(250, 7), (250, 0), (500, 3)]);
    }

    proptest! {
        /// The integral is monotone, whole at the end, and its difference quotient is the rate.
        #[test]
        fn the_integral_belongs_to_the_rate(from in 0_u32..5_000, to in 0_u32..5_000, length in 2_u64..5_000, at in 0_u64..5_000) {
            let piece = Piece::linear(f64::from(from), f64::from(to), length);
            let at = at % (length - 1);
            let step = (piece.units_until(at + 1) - piece.units_until(at)) as f64;
            let rate = piece.milli_at(at) + piece.milli_at(at + 1);
            prop_assert!((step - rate).abs() <= 1.0, "{step} and {rate}");
            prop_assert_eq!(piece.units_until(length), piece.units);
            prop_assert!(piece.units_until(length - 1) <= piece.units);
        }
    }
}
