//! When the rate has brought how much: the integral of a schedule's rate and its inverse, in constant
//! time per question.
//!
//! Let `N(t)` be the integral of the rate up to `t`. Phases and what is on top of them are pieces of
//! linear rate, so their sum is too: the schedule becomes spans between all places where any of them
//! changes. `N` is exact at the end of every piece; where a span begins within one, it is rounded down
//! to a half-millionth of an arrival for each layer, so that counts are exact.

use super::layer::Layer;
use super::piece::UNIT;
use super::schedule::Schedule;

const NS_PER_MS: u64 = 1_000_000;

/// A schedule resolved to spans of constant or linear rate.
#[derive(Debug, Clone, PartialEq)]
pub struct Timetable {
    spans: Vec<Span>,
    /// `N` at the end, in `UNIT`s.
    units: u64,
    duration_ns: u64,
    phase_ends_ns: Vec<u64>,
}

#[derive(Debug, Clone, PartialEq)]
struct Span {
    start_ns: u64,
    length_ms: u64,
    from_milli_per_s: f64,
    to_milli_per_s: f64,
    /// `N` at the start of the span, and what the span adds, in `UNIT`s.
    before: u64,
    units: u64,
}

impl Timetable {
    pub(super) fn new(schedule: &Schedule) -> Self {
        let base = schedule.phases.iter().map(|phase| &phase.shape);
        let mut layers = vec![Layer::new(0, base)];
        layers.extend(
            schedule
                .on_top
                .iter()
                .map(|one| Layer::new(one.at_ms, [&one.shape])),
        );
        let mut borders: Vec<u64> = layers.iter().flat_map(Layer::borders).collect();
        borders.sort_unstable();
        borders.dedup();
        let spans = borders
            .windows(2)
            .map(|ends| Span::new(&layers, ends[0], ends[1]));
        Self {
            spans: spans.collect(),
            units: borders.last().map_or(0, |end| units_until(&layers, *end)),
            duration_ns: borders.last().map_or(0, |end| end * NS_PER_MS),
            phase_ends_ns: phase_ends_ns(schedule),
        }
    }

    /// Arrivals in all.
    pub fn count(&self) -> u64 {
        self.units.div_ceil(UNIT)
    }

    /// The highest rate of the schedule.
    pub fn peak_per_s(&self) -> f64 {
        let rates = self
            .spans
            .iter()
            .flat_map(|span| [span.from_milli_per_s, span.to_milli_per_s]);
        rates.fold(0.0, f64::max) / 1e3
    }

    /// `N` at the end.
    pub(super) fn units(&self) -> u64 {
        self.units
    }

    /// Nanoseconds from the first arrival to the end of the last phase.
    pub fn duration_ns(&self) -> u64 {
        self.duration_ns
    }

    /// When `N` reaches `units`, nanoseconds since the start; never falls as they grow. From the end of
    /// the schedule on: its end.
    pub(super) fn reached_ns(&self, units: u64) -> u64 {
        if units >= self.units {
            return self.duration_ns;
        }
        let after = self.spans.partition_point(|span| span.before <= units);
        self.spans[..after].last().map_or(0, |span| {
            span.start_ns + span.offset_ns(units - span.before)
        })
    }

    /// When each phase ends, nanoseconds since the start.
    pub(super) fn phase_ends_ns(&self) -> &[u64] {
        &self.phase_ends_ns
    }

    /// Place of the phase in the schedule that a time falls in; after the end: the last.
    pub fn phase_at(&self, ns: u64) -> usize {
        let ended = self.phase_ends_ns.partition_point(|end_ns| *end_ns <= ns);
        ended.min(self.phase_ends_ns.len().saturating_sub(1))
    }
}

fn phase_ends_ns(schedule: &Schedule) -> Vec<u64> {
    let lengths = schedule
        .phases
        .iter()
        .map(|phase| phase.shape.duration_ms());
    lengths
        .scan(0, |end_ns, ms| {
            *end_ns += ms * NS_PER_MS;
            Some(*end_ns)
        })
        .collect()
}

fn units_until(layers: &[Layer], ms: u64) -> u64 {
    layers.iter().map(|layer| layer.units_until(ms)).sum()
}

impl Span {
    /// The sum of all layers between two neighbouring borders.
    fn new(layers: &[Layer], from_ms: u64, to_ms: u64) -> Self {
        let rates = layers
            .iter()
            .map(|layer| layer.milli_between(from_ms, to_ms));
        let (from, to) = rates.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let before = units_until(layers, from_ms);
        Self {
            start_ns: from_ms * NS_PER_MS,
            length_ms: to_ms - from_ms,
            from_milli_per_s: from,
            to_milli_per_s: to,
            before,
            units: units_until(layers, to_ms) - before,
        }
    }

    /// Time within the span at which `units` have arrived since its start.
    fn offset_ns(&self, units: u64) -> u64 {
        let length_ns = self.length_ms * NS_PER_MS;
        let offset = if self.from_milli_per_s == self.to_milli_per_s {
            let ns = u128::from(units) * u128::from(length_ns) / u128::from(self.units.max(1));
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
        let (a, b) = (self.from_milli_per_s, self.to_milli_per_s);
        let units = units as f64;
        let root = (a * a + (b - a) * units / self.length_ms as f64)
            .max(0.0)
            .sqrt();
        (units / (a + root) * NS_PER_MS as f64) as u64
    }
}
