//! When each arrival falls: a pure function from schedule, seed and index to a time.
//!
//! With even arrivals, arrival `k` falls where the integral of the rate reaches `k`: the first one at
//! 0, and a phase boundary never shifts the arrivals behind it. Poisson arrivals fall where it reaches
//! their places in a process of rate one.

use super::piece::UNIT;
use super::poisson::{Cell, Poisson};
use super::schedule::{ArrivalProcess, Schedule};
use super::timetable::Timetable;

#[derive(Debug)]
pub struct ArrivalTimes {
    timetable: Timetable,
    count: u64,
    /// None: even.
    poisson: Option<Poisson>,
}

/// Where a walk through the arrivals is: neighbours are found faster.
#[derive(Debug, Default)]
pub struct Walk(Cell);

impl ArrivalTimes {
    pub fn new(schedule: &Schedule, seed: u64) -> Self {
        let timetable = schedule.timetable();
        let count = timetable.count();
        let poisson = match schedule.arrivals {
            ArrivalProcess::Even => None,
            ArrivalProcess::Poisson => Some(Poisson::new(count, timetable.units(), seed)),
        };
        Self {
            timetable,
            count,
            poisson,
        }
    }

    /// Arrivals in all.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Nanoseconds from the start to the end of the schedule.
    pub fn duration_ns(&self) -> u64 {
        self.timetable.duration_ns()
    }

    /// Arrivals of each of the schedule's phases.
    pub fn phase_counts(&self) -> Vec<u64> {
        let ends_ns = self.timetable.phase_ends_ns();
        let mut before = 0;
        let count = |(at, end_ns): (usize, &u64)| {
            // What comes after the last phase counts as its own.
            let until = match at + 1 == ends_ns.len() {
                true => self.count,
                false => self.before(*end_ns),
            };
            until - std::mem::replace(&mut before, until)
        };
        ends_ns.iter().enumerate().map(count).collect()
    }

    /// Arrivals before a time.
    pub fn before(&self, ns: u64) -> u64 {
        let (mut from, mut to) = (0, self.count);
        while from < to {
            let middle = from + (to - from) / 2;
            if self.intended_ns(middle) < ns {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        from
    }

    /// Intended time of arrival `index`, nanoseconds since the start; never falls with the index.
    /// Beyond the last arrival: the end of the schedule.
    pub fn intended_ns(&self, index: u64) -> u64 {
        self.intended_ns_on(&mut Walk::default(), index)
    }

    /// The same, for one who asks in the order of the index.
    pub fn intended_ns_on(&self, walk: &mut Walk, index: u64) -> u64 {
        if index >= self.count {
            return self.duration_ns();
        }
        let units = match &self.poisson {
            None => index * UNIT,
            Some(poisson) => poisson.place(index, &mut walk.0),
        };
        self.timetable.reached_ns(units)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::piece::pieces;
    use super::super::schedule::{OnTop, Phase, Shape};
    use super::*;

    const NS_PER_MS: u64 = 1_000_000;

    fn constant(rate_per_s: f64, duration_ms: u64) -> Shape {
        Shape::Constant {
            rate_per_s,
            duration_ms,
        }
    }

    fn ramp(from_per_s: f64, to_per_s: f64, duration_ms: u64) -> Shape {
        Shape::Ramp {
            from_per_s,
            to_per_s,
            duration_ms,
        }
    }

    fn steps(from_per_s: f64, to_per_s: f64, steps: u32, duration_ms: u64) -> Shape {
        Shape::Steps {
            from_per_s,
            to_per_s,
            steps,
            duration_ms,
        }
    }

    fn spike(base_per_s: f64, peak_per_s: f64, at: u64, peak_ms: u64, duration_ms: u64) -> Shape {
        Shape::Spike {
            base_per_s,
            peak_per_s,
            peak_at_ms: at,
            peak_ms,
            duration_ms,
        }
    }

    /// Rates before, at and after T0; times before it and of the fall.
    fn cliff(rates: [f64; 3], before_ms: u64, fall_ms: u64, duration_ms: u64) -> Shape {
        Shape::Cliff {
            before_per_s: rates[0],
            before_ms,
            peak_per_s: rates[1],
            fall_ms,
            after_per_s: rates[2],
            duration_ms,
        }
    }

    fn trace(points: &[(u64, u64)]) -> Shape {
        Shape::Trace {
            file: "t.csv".into(),
            points: points.to_vec(),
        }
    }

    fn schedule(shapes: Vec<Shape>, on_top: Vec<(u64, Shape)>) -> Schedule {
        let phase = |shape| Phase {
            name: "p".into(),
            shape,
        };
        Schedule {
            on_top: on_top
                .into_iter()
                .map(|(at_ms, shape)| OnTop { at_ms, shape })
                .collect(),
            ..Schedule::of(shapes.into_iter().map(phase).collect())
        }
    }

    fn even(shapes: Vec<Shape>, on_top: Vec<(u64, Shape)>) -> ArrivalTimes {
        ArrivalTimes::new(&schedule(shapes, on_top), 7)
    }

    #[test]
    fn counts_are_exact() {
        let cases: Vec<(Vec<Shape>, u64)> = vec![
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
            (vec![steps(100.0, 300.0, 3, 3_000)], 600),
            (vec![steps(300.0, 100.0, 3, 3_000)], 600),
            (vec![spike(10.0, 1_000.0, 1_000, 500, 2_000)], 515),
            (vec![spike(10.0, 1_000.0, 5_000, 500, 2_000)], 20),
            (vec![spike(10.0, 1_000.0, 1_900, 500, 2_000)], 119),
            (vec![cliff([10.0, 100.0, 20.0], 1_000, 1_000, 3_000)], 90),
            (vec![cliff([0.0, 100.0, 0.0], 0, 1_000, 1_000)], 50),
            (vec![trace(&[(0, 7), (10, 0), (500, 30), (501, 0)])], 37),
            (vec![trace(&[(0, 7)])], 0),
            (vec![trace(&[])], 0),
        ];
        for (shapes, expected) in cases {
            let times = even(shapes.clone(), vec![]);
            assert_eq!(times.count(), expected, "{shapes:?}");
        }
    }

    #[test]
    fn what_is_on_top_adds_to_the_count() {
        let base = || vec![constant(100.0, 2_000), constant(50.0, 2_000)];
        let cases = [
            (vec![], 300),
            (vec![(0, constant(10.0, 4_000))], 340),
            (vec![(1_500, constant(10.0, 1_000))], 310),
            (vec![(1_777, ramp(0.0, 1_000.0, 1_000))], 800),
            (
                vec![
                    (1, ramp(333.0, 1.0, 2_997)),
                    (2, ramp(1.0, 333.0, 2_997)),
                    (3, trace(&[(0, 9), (7, 0)])),
                ],
                300 + 334 * 2_997 / 1_000 + 1 + 9,
            ),
        ];
        for (on_top, expected) in cases {
            assert_eq!(even(base(), on_top.clone()).count(), expected, "{on_top:?}");
        }
    }

    #[test]
    fn times_follow_the_rate() {
        let shapes = vec![constant(1_000.0, 1_000), constant(2_000.0, 1_000)];
        let timetable = schedule(shapes.clone(), vec![]).timetable();
        let times = even(shapes, vec![]);
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
            assert_eq!(times.intended_ns(index), ns, "arrival {index}");
            assert_eq!(timetable.phase_at(ns), phase, "arrival {index}");
        }
    }

    #[test]
    fn a_wave_on_top_packs_the_arrivals_of_its_time() {
        let times = even(
            vec![constant(1_000.0, 3_000)],
            vec![(1_000, constant(3_000.0, 1_000))],
        );
        let cases = [
            (999, 999_000_000),
            (1_000, 1_000_000_000),
            (1_001, 1_000_250_000),
            (4_999, 1_999_750_000),
            (5_000, 2_000_000_000),
            (5_001, 2_001_000_000),
        ];
        for (index, ns) in cases {
            assert_eq!(times.intended_ns(index), ns, "arrival {index}");
        }
    }

    #[test]
    fn a_ramp_from_zero_reaches_a_quarter_at_half_time() {
        let times = even(vec![ramp(0.0, 1_000.0, 2_000)], vec![]);
        assert_eq!(times.count(), 1_000);
        assert_eq!(times.intended_ns(250), 1_000_000_000);
        let falling = even(vec![ramp(1_000.0, 0.0, 2_000)], vec![]);
        assert_eq!(falling.intended_ns(750), 1_000_000_000);
    }

    #[test]
    fn an_empty_span_holds_no_arrival() {
        let shapes = vec![constant(0.0, 500), constant(10.0, 0), constant(10.0, 1_000)];
        let times = even(shapes.clone(), vec![]);
        assert_eq!(times.count(), 10);
        assert_eq!(times.intended_ns(0), 500_000_000);
        let timetable = schedule(shapes, vec![]).timetable();
        assert_eq!(timetable.phase_at(500_000_000), 2);
    }

    fn any_shape() -> impl Strategy<Value = Shape> {
        let rate = || (0_u32..50_000).prop_map(|tenths| f64::from(tenths) / 10.0);
        let ms = || 0_u64..3_000;
        prop_oneof![
            (rate(), ms()).prop_map(|(r, d)| constant(r, d)),
            (rate(), rate(), ms()).prop_map(|(a, b, d)| ramp(a, b, d)),
            (rate(), rate(), 0_u32..20, ms()).prop_map(|(a, b, n, d)| steps(a, b, n, d)),
            (rate(), rate(), ms(), ms(), ms()).prop_map(|(a, b, at, p, d)| spike(a, b, at, p, d)),
            ((rate(), rate(), rate()), ms(), ms(), ms()).prop_map(|((a, b, c), at, f, d)| cliff(
                [a, b, c],
                at,
                f,
                d
            )),
            proptest::collection::vec((1_u64..400, 0_u64..200), 0..20).prop_map(|lines| {
                let mut at_ms = 0;
                let points: Vec<_> = lines
                    .into_iter()
                    .map(|(ms, requests)| {
                        at_ms += ms;
                        (at_ms - ms, requests)
                    })
                    .collect();
                trace(&points)
            }),
        ]
    }

    fn any_schedule() -> impl Strategy<Value = Schedule> {
        let shapes = proptest::collection::vec(any_shape(), 0..5);
        let on_top = proptest::collection::vec((0_u64..4_000, any_shape()), 0..3);
        (shapes, on_top).prop_map(|(shapes, on_top)| schedule(shapes, on_top))
    }

    fn layers(schedule: &Schedule) -> Vec<(u64, Vec<&Shape>)> {
        let base = schedule.phases.iter().map(|phase| &phase.shape).collect();
        let tops = schedule
            .on_top
            .iter()
            .map(|one| (one.at_ms, vec![&one.shape]));
        [(0, base)].into_iter().chain(tops).collect()
    }

    /// The integral up to `ns` in arrivals, summed piece by piece in floating point.
    fn expected_until(schedule: &Schedule, ns: u64) -> f64 {
        let ms = ns as f64 / 1e6;
        let mut sum = 0.0;
        for (at_ms, shapes) in layers(schedule) {
            let mut start = at_ms as f64;
            for piece in shapes.into_iter().flat_map(pieces) {
                let length = piece.length_ms as f64;
                let t = (ms - start).clamp(0.0, length);
                if length > 0.0 {
                    let (a, b) = (piece.milli_at(0), piece.milli_at(piece.length_ms));
                    sum += (a * t + (b - a) * t * t / (2.0 * length)) / 1e6;
                }
                start += length;
            }
        }
        sum
    }

    proptest! {
        #[test]
        fn times_never_fall_and_stay_within_the_schedule(schedule in any_schedule(), poisson: bool) {
            let arrivals = if poisson { ArrivalProcess::Poisson } else { ArrivalProcess::Even };
            let schedule = Schedule { arrivals, ..schedule };
            let times = ArrivalTimes::new(&schedule, 7);
            let timetable = schedule.timetable();
            let (mut walk, mut last) = (Walk::default(), 0);
            let mut counted = vec![0; schedule.phases.len()];
            for index in 0..times.count() {
                let ns = times.intended_ns_on(&mut walk, index);
                prop_assert!(ns >= last && ns < times.duration_ns());
                if let Some(count) = counted.get_mut(timetable.phase_at(ns)) {
                    *count += 1;
                }
                last = ns;
            }
            prop_assert_eq!(times.phase_counts(), counted);
            prop_assert_eq!(times.intended_ns(times.count()), times.duration_ns());
            for index in (0..times.count()).rev().step_by(997) {
                let alone = times.intended_ns(index);
                prop_assert_eq!(times.intended_ns_on(&mut walk, index), alone);
            }
        }

        #[test]
        fn even_arrivals_keep_to_the_integral_of_the_rate(schedule in any_schedule()) {
            let times = ArrivalTimes::new(&schedule, 7);
            let step = usize::try_from(times.count() / 300).unwrap().max(1);
            for index in (0..times.count()).step_by(step) {
                // A nanosecond of rounding either way.
                let ns = times.intended_ns(index);
                let (from, to) = (expected_until(&schedule, ns), expected_until(&schedule, ns + 2));
                prop_assert!(from - 0.001 <= index as f64 && index as f64 <= to + 0.001,
                    "arrival {index} at {ns} where the integral goes from {from} to {to}");
            }
        }

        #[test]
        fn the_count_is_the_sum_of_the_layers_own(schedule in any_schedule()) {
            let units = layers(&schedule).into_iter()
                .flat_map(|(_, shapes)| shapes.into_iter().flat_map(pieces))
                .map(|piece| piece.units);
            prop_assert_eq!(schedule.count(), units.sum::<u64>().div_ceil(UNIT));
        }

        #[test]
        fn a_phase_begins_and_ends_where_its_length_says(schedule in any_schedule()) {
            let timetable = schedule.timetable();
            let mut start = 0;
            for (at, phase) in schedule.phases.iter().enumerate() {
                let end = start + phase.shape.duration_ms() * NS_PER_MS;
                if start < end {
                    prop_assert_eq!(timetable.phase_at(start), at);
                    prop_assert_eq!(timetable.phase_at(end - 1), at);
                }
                start = end;
            }
        }
    }

    #[test]
    fn poisson_arrivals_follow_the_rate_and_scatter_around_it() {
        let shapes = vec![ramp(0.0, 40_000.0, 5_000)];
        let of = |arrivals| {
            let schedule = Schedule {
                arrivals,
                ..schedule(shapes.clone(), vec![(1_000, constant(10_000.0, 2_000))])
            };
            let times = ArrivalTimes::new(&schedule, 7);
            let mut counts = vec![0.0_f64; 500];
            let mut walk = Walk::default();
            for index in 0..times.count() {
                let ns = times.intended_ns_on(&mut walk, index);
                counts[(ns / 10_000_000) as usize] += 1.0;
            }
            let squares = counts.iter().enumerate().map(|(window, count)| {
                let at = window as u64 * 10_000_000;
                let expected =
                    expected_until(&schedule, at + 10_000_000) - expected_until(&schedule, at);
                (count - expected).powi(2) / expected
            });
            (times.count(), squares.sum::<f64>() / 500.0)
        };
        let (even_count, even) = of(ArrivalProcess::Even);
        let (poisson_count, poisson) = of(ArrivalProcess::Poisson);
        assert_eq!((even_count, poisson_count), (120_000, 120_000));
        assert!(even < 0.05, "{even}");
        // The mean of 500 squares of about normal deviations: 1, give or take 4 times sqrt(2 / 500).
        assert!((poisson - 1.0).abs() < 0.25, "{poisson}");
    }
}
