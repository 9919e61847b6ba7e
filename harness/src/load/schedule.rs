//! Arrival schedules as a drill states them: phases of one shape each, and shapes on top of them. When
//! the arrivals fall is worked out by `arrival_times`.

use serde::{Deserialize, Serialize};

use super::timetable::Timetable;

/// Phases one after the other, with further shapes on top: rates add.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    pub phases: Vec<Phase>,
    pub on_top: Vec<OnTop>,
    pub arrivals: ArrivalProcess,
}

/// How arrivals fall where the rate is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArrivalProcess {
    /// At equal distances.
    #[default]
    Even,
    /// Independently of each other, as buyers come: a Poisson process of the scheduled rate, given the
    /// scheduled number of arrivals.
    Poisson,
}

/// A named stretch of the schedule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    pub name: String,
    #[serde(flatten)]
    pub shape: Shape,
}

/// A shape that starts `at_ms` into the schedule and adds to the phases, such as a wave of bots.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OnTop {
    pub at_ms: u64,
    #[serde(flatten)]
    pub shape: Shape,
}

/// A stretch of time with one shape of rate. Rates are requests per second, in steps of 0.001.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "shape", rename_all = "snake_case")]
pub enum Shape {
    Constant {
        rate_per_s: f64,
        duration_ms: u64,
    },
    Ramp {
        from_per_s: f64,
        to_per_s: f64,
        duration_ms: u64,
    },
    /// Constant rates of equal length and distance, the first `from_per_s`, the last `to_per_s`.
    Steps {
        from_per_s: f64,
        to_per_s: f64,
        steps: u32,
        duration_ms: u64,
    },
    /// `base_per_s`, with `peak_per_s` from `peak_at_ms` for `peak_ms`.
    Spike {
        base_per_s: f64,
        peak_per_s: f64,
        peak_at_ms: u64,
        peak_ms: u64,
        duration_ms: u64,
    },
    /// T0 of a flash sale: `before_per_s` for `before_ms`, then at once `peak_per_s`, falling to
    /// `after_per_s` over `fall_ms` and staying there.
    Cliff {
        before_per_s: f64,
        before_ms: u64,
        peak_per_s: f64,
        fall_ms: u64,
        after_per_s: f64,
        duration_ms: u64,
    },
    /// A recorded load. A point is a time in ms and how many requests fall between it and the next; the
    /// last one ends the trace. `file` tells where the points came from and is not read again.
    Trace {
        file: String,
        points: Vec<(u64, u64)>,
    },
}

impl Shape {
    pub fn duration_ms(&self) -> u64 {
        match self {
            Self::Constant { duration_ms, .. }
            | Self::Ramp { duration_ms, .. }
            | Self::Steps { duration_ms, .. }
            | Self::Spike { duration_ms, .. }
            | Self::Cliff { duration_ms, .. } => *duration_ms,
            Self::Trace { points, .. } => points.last().map_or(0, |(at_ms, _)| *at_ms),
        }
    }
}

impl Shape {
    fn scale(&mut self, share: f64) {
        let mut rates: Vec<&mut f64> = match self {
            Self::Constant { rate_per_s, .. } => vec![rate_per_s],
            Self::Ramp {
                from_per_s,
                to_per_s,
                ..
            }
            | Self::Steps {
                from_per_s,
                to_per_s,
                ..
            } => vec![from_per_s, to_per_s],
            Self::Spike {
                base_per_s,
                peak_per_s,
                ..
            } => vec![base_per_s, peak_per_s],
            Self::Cliff {
                before_per_s,
                peak_per_s,
                after_per_s,
                ..
            } => vec![before_per_s, peak_per_s, after_per_s],
            Self::Trace { points, .. } => {
                for (_, requests) in points {
                    *requests = (*requests as f64 * share).round() as u64;
                }
                vec![]
            }
        };
        rates.iter_mut().for_each(|rate| **rate *= share);
    }
}

impl Schedule {
    /// Phases alone, with arrivals at equal distances.
    pub fn of(phases: Vec<Phase>) -> Self {
        Self {
            phases,
            on_top: Vec::new(),
            arrivals: ArrivalProcess::Even,
        }
    }

    /// The same with all rates at a share of what they are.
    pub fn at_share(&self, share: f64) -> Self {
        let mut schedule = self.clone();
        let phases = schedule.phases.iter_mut().map(|phase| &mut phase.shape);
        let on_top = schedule.on_top.iter_mut().map(|one| &mut one.shape);
        phases.chain(on_top).for_each(|shape| shape.scale(share));
        schedule
    }

    /// The rates worked out; do this once and ask it for times.
    pub fn timetable(&self) -> Timetable {
        Timetable::new(self)
    }

    /// Arrivals in all phases together.
    pub fn count(&self) -> u64 {
        self.timetable().count()
    }

    /// From the first arrival to the end of the last phase.
    pub fn duration_ms(&self) -> u64 {
        self.phases
            .iter()
            .map(|phase| phase.shape.duration_ms())
            .sum()
    }
}
