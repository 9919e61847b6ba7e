//! When each arrival falls: a pure function from an index to a time, in constant time per index.
//!
//! Let `N(t)` be the integral of the rate up to `t`. Arrival `k` falls where `N` reaches `k`, so
//! the first one falls at 0 and a phase boundary never shifts the arrivals behind it. `N` is kept
//! in integers of half a millionth of an arrival (rates in thousandths per second times
//! milliseconds, doubled because a ramp is half of base times height), so counts are exact.

use super::schedule::Phase;

/// Half-millionths of one arrival.
const UNIT: u64 = 2_000_000;
const NS_PER_MS: u64 = 1_000_000;

/// A schedule resolved to spans of constant or linear rate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timetable {
    spans: Vec<Span>,
    count: u64,
    duration_ns: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Span {
    /// Index of the phase that this span is a part of.
    phase: usize,
    start_ns: u64,
    duration_ms: u64,
    from_milli_per_s: u64,
    to_milli_per_s: u64,
    /// `N` at the start of the span, in `UNIT`s.
    before: u64,
    /// First arrival at or after the start of the span.
    first_index: u64,
}

impl Timetable {
    pub(super) fn new(phases: &[Phase]) -> Self {
        let mut table = Self {
            spans: Vec::new(),
            count: 0,
            duration_ns: 0,
        };
        let mut total = 0;
        for (phase, shape) in phases.iter().enumerate() {
            for (from, to, duration_ms) in pieces(shape) {
                total = table.push(phase, (from, to), duration_ms, total);
            }
        }
        table.count = total.div_ceil(UNIT);
        table
    }

    /// Adds a span and gives `N` at its end.
    fn push(&mut self, phase: usize, rates: (f64, f64), duration_ms: u64, before: u64) -> u64 {
        let span = Span {
            phase,
            start_ns: self.duration_ns,
            duration_ms,
            from_milli_per_s: milli(rates.0),
            to_milli_per_s: milli(rates.1),
            before,
            first_index: before.div_ceil(UNIT),
        };
        self.duration_ns += duration_ms * NS_PER_MS;
        let after = before + (span.from_milli_per_s + span.to_milli_per_s) * duration_ms;
        self.spans.push(span);
        after
    }

    /// Arrivals in all.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Nanoseconds from the first arrival to the end of the last phase.
    pub fn duration_ns(&self) -> u64 {
        self.duration_ns
    }

    /// Intended time of arrival `index`, nanoseconds since the first; never falls with the index.
    /// Beyond the last arrival: the end of the schedule.
    pub fn intended_ns(&self, index: u64) -> u64 {
        match self.span(index) {
            Some(span) => span.start_ns + span.offset_ns(index * UNIT - span.before),
            None => self.duration_ns,
        }
    }

    /// Place of the phase in the schedule that arrival `index` belongs to.
    pub fn phase_of(&self, index: u64) -> usize {
        self.span(index)
            .map_or_else(|| self.spans.last().map_or(0, |s| s.phase), |s| s.phase)
    }

    /// Arrivals of each of the schedule's phases.
    pub fn phase_counts(&self) -> Vec<u64> {
        let phases = self.spans.last().map_or(0, |span| span.phase + 1);
        let mut counts = vec![0; phases];
        let ends = self.spans.iter().skip(1).map(|next| next.first_index);
        for (span, end) in self.spans.iter().zip(ends.chain([self.count])) {
            counts[span.phase] += end - span.first_index;
        }
        counts
    }

    /// The span an arrival falls in: the last one that starts at or before it.
    fn span(&self, index: u64) -> Option<&Span> {
        if index >= self.count {
            return None;
        }
        let after = self.spans.partition_point(|span| span.first_index <= index);
        self.spans[..after].last()
    }
}

impl Span {
    /// Time within the span at which `units` have arrived since its start.
    fn offset_ns(&self, units: u64) -> u64 {
        let length_ns = self.duration_ms * NS_PER_MS;
        let offset = if self.from_milli_per_s == self.to_milli_per_s {
            let per_ms = 2 * u128::from(self.from_milli_per_s);
            let ns = u128::from(units) * u128::from(NS_PER_MS) / per_ms.max(1);
            u64::try_from(ns).unwrap_or(length_ns)
        } else {
            self.ramp_offset_ns(units)
        };
        offset.min(length_ns.saturating_sub(1))
    }

    /// With rates `a` to `b` (thousandths per second) over `T` ms, `units = 2 a t + (b - a) t^2 / T`.
    /// Solved in the form that neither cancels nor divides by zero when `a` or `b` is 0:
    /// `t = units / (a + sqrt(a^2 + (b - a) units / T))`.
    fn ramp_offset_ns(&self, units: u64) -> u64 {
        if units == 0 {
            return 0;
        }
        let a = self.from_milli_per_s as f64;
        let b = self.to_milli_per_s as f64;
        let units = units as f64;
        let root = (a * a + (b - a) * units / self.duration_ms as f64)
            .max(0.0)
            .sqrt();
        (units / (a + root) * NS_PER_MS as f64) as u64
    }
}

/// A phase as rates at both ends and a length.
fn pieces(phase: &Phase) -> Vec<(f64, f64, u64)> {
    match phase {
        Phase::Constant {
            rate_per_s,
            duration_ms,
            ..
        } => vec![(*rate_per_s, *rate_per_s, *duration_ms)],
        Phase::Ramp {
            from_per_s,
            to_per_s,
            duration_ms,
            ..
        } => vec![(*from_per_s, *to_per_s, *duration_ms)],
        Phase::Spike {
            base_per_s,
            peak_per_s,
            peak_at_ms,
            peak_ms,
            duration_ms,
            ..
        } => {
            let before = (*peak_at_ms).min(*duration_ms);
            let peak = (*peak_ms).min(duration_ms - before);
            vec![
                (*base_per_s, *base_per_s, before),
                (*peak_per_s, *peak_per_s, peak),
                (*base_per_s, *base_per_s, duration_ms - before - peak),
            ]
        }
    }
}

/// Thousandths per second; the cast takes what is no rate (negative, NaN) as 0.
fn milli(rate_per_s: f64) -> u64 {
    (rate_per_s * 1000.0).round() as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::load::schedule::Schedule;

    fn constant(rate_per_s: f64, duration_ms: u64) -> Phase {
        Phase::Constant {
            name: "c".into(),
            rate_per_s,
            duration_ms,
        }
    }

    fn ramp(from_per_s: f64, to_per_s: f64, duration_ms: u64) -> Phase {
        Phase::Ramp {
            name: "r".into(),
            from_per_s,
            to_per_s,
            duration_ms,
        }
    }

    fn spike(base_per_s: f64, peak_per_s: f64, at: u64, peak_ms: u64, duration_ms: u64) -> Phase {
        Phase::Spike {
            name: "s".into(),
            base_per_s,
            peak_per_s,
            peak_at_ms: at,
            peak_ms,
            duration_ms,
        }
    }

    #[test]
    fn counts_are_exact() {
        let cases: Vec<(Vec<Phase>, u64)> = vec![
            (vec![], 0),
            (vec![constant(0.0, 1000)], 0),
            (vec![constant(-5.0, 1000)], 0),
            (vec![constant(f64::NAN, 1000)], 0),
            (vec![constant(1.0, 1000)], 1),
            (vec![constant(20_000.0, 100)], 2_000),
            (vec![constant(100_000.0, 60_000)], 6_000_000),
            (vec![constant(33.333, 3_000)], 100),
            (vec![constant(0.1, 10_000), constant(0.1, 10_000)], 2),
            (vec![ramp(0.0, 1000.0, 1_000)], 500),
            (vec![ramp(1000.0, 0.0, 1_000)], 500),
            (vec![ramp(100.0, 300.0, 2_000)], 400),
            (vec![spike(10.0, 1_000.0, 1_000, 500, 2_000)], 515),
            (vec![spike(10.0, 1_000.0, 5_000, 500, 2_000)], 20),
            (vec![spike(10.0, 1_000.0, 1_900, 500, 2_000)], 119),
        ];
        for (phases, expected) in cases {
            let schedule = Schedule { phases };
            assert_eq!(schedule.count(), expected, "{schedule:?}");
        }
    }

    #[test]
    fn times_follow_the_rate() {
        let table = Timetable::new(&[constant(1_000.0, 1_000), constant(2_000.0, 1_000)]);
        let cases = [
            (0, 0, 0),
            (1, 1_000_000, 0),
            (999, 999_000_000, 0),
            (1_000, 1_000_000_000, 1),
            (1_001, 1_000_500_000, 1),
            (2_999, 1_999_500_000, 1),
            (3_000, 2_000_000_000, 1),
        ];
        for (index, ns, phase) in cases {
            assert_eq!(table.intended_ns(index), ns, "arrival {index}");
            assert_eq!(table.phase_of(index), phase, "arrival {index}");
        }
    }

    #[test]
    fn a_ramp_from_zero_reaches_a_quarter_at_half_time() {
        let table = Timetable::new(&[ramp(0.0, 1_000.0, 2_000)]);
        assert_eq!(table.count(), 1_000);
        assert_eq!(table.intended_ns(250), 1_000_000_000);
        let falling = Timetable::new(&[ramp(1_000.0, 0.0, 2_000)]);
        assert_eq!(falling.intended_ns(750), 1_000_000_000);
    }

    #[test]
    fn an_empty_span_holds_no_arrival() {
        let table = Timetable::new(&[constant(0.0, 500), constant(10.0, 0), constant(10.0, 1_000)]);
        assert_eq!(table.count(), 10);
        assert_eq!(table.phase_of(0), 2);
        assert_eq!(table.intended_ns(0), 500_000_000);
    }

    fn any_phase() -> impl Strategy<Value = Phase> {
        let rate = (0_u32..50_000).prop_map(|milli| f64::from(milli) / 10.0);
        let length = 0_u64..3_000;
        prop_oneof![
            (rate.clone(), length.clone()).prop_map(|(r, d)| constant(r, d)),
            (rate.clone(), rate.clone(), length.clone()).prop_map(|(a, b, d)| ramp(a, b, d)),
            (rate.clone(), rate, length.clone(), length.clone(), length)
                .prop_map(|(a, b, at, peak, d)| spike(a, b, at, peak, d)),
        ]
    }

    proptest! {
        #[test]
        fn times_never_fall_and_stay_in_their_phase(
            phases in proptest::collection::vec(any_phase(), 0..5)
        ) {
            let table = Timetable::new(&phases);
            let mut starts = vec![0];
            for phase in &phases {
                starts.push(starts[starts.len() - 1] + phase.duration_ms() * NS_PER_MS);
            }
            let step = (table.count() / 500).max(1);
            let mut last = 0;
            for index in (0..table.count()).step_by(usize::try_from(step).unwrap()) {
                let ns = table.intended_ns(index);
                let phase = table.phase_of(index);
                prop_assert!(ns >= last);
                prop_assert!(starts[phase] <= ns && ns < starts[phase + 1]);
                last = ns;
            }
        }

        #[test]
        fn a_phase_holds_its_rate_times_its_length(phases in proptest::collection::vec(any_phase(), 1..5)) {
            let table = Timetable::new(&phases);
            let exact: f64 = phases.iter().flat_map(pieces)
                .map(|(from, to, ms)| (from + to) / 2.0 * ms as f64 / 1000.0).sum();
            prop_assert!((table.count() as f64 - exact).abs() < 1.001);
            let mut counted = vec![0; phases.len()];
            for index in 0..table.count() {
                counted[table.phase_of(index)] += 1;
            }
            prop_assert_eq!(table.phase_counts(), counted);
        }
    }
}
