//! What a paced run's users really waited: from the moment they were meant to arrive to the moment the server
//! answered, found without asking the tool.
//!
//! **Definition.** A user arrives every `1/rate` seconds, whatever the server does; the truth is the
//! distribution of *answered minus meant to arrive* over all arrivals of the run. The server stamps each
//! answer. When as many answers were given as users arrived, the k-th answer is the k-th arrival's: nobody else
//! can have waited for it while users are alike, and who overtook whom inside a queue changes no sum, and no
//! percentile by more than the few milliseconds in which one round of connections is served. The tool's own
//! start is not known to the server, so the schedule is laid as early as the promptest hundredth of the answers
//! allows, and these count as one round trip on the idle server. This truth includes the queue after a freeze
//! and the speed at which this very tool drained it: it judges what a tool says, not how fast it is.
//! A tool that left arrivals out (a closed loop) has no such run. For it the same users are put before a model
//! of the server: one queue, the freezes as logged, and the highest rate at which this tool got answers; a tool
//! that was never faster than the users arrive is taken to drain at once, the least that users can have waited.
//! Both are computed where both can be, and their difference is printed.

use serde::Serialize;

use crate::server::{Freeze, ServerLog};

const NS_PER_S: u64 = 1_000_000_000;
/// The queue after a freeze lasts longer than this, so that its drain fills a window.
const DRAIN_WINDOW_NS: u64 = 20_000_000;
/// Of the answers, this share is taken as prompt.
const PROMPT_SHARE: f64 = 0.01;
/// A run is on schedule when its answers are as many as its arrivals, but for this share.
const KEPT_TOLERANCE: f64 = 0.001;

/// Evenly spaced arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Schedule {
    pub per_s: u64,
    pub duration_ms: u64,
}

impl Schedule {
    pub fn arrivals(self) -> u64 {
        self.per_s * self.duration_ms / 1000
    }

    /// When the user is meant to arrive, since the first one.
    pub fn intended_ns(self, index: u64) -> u64 {
        index * NS_PER_S / self.per_s
    }

    /// As many requests were answered as users arrived.
    pub fn is_kept_by(self, answered: usize) -> bool {
        let arrivals = self.arrivals() as f64;
        (answered as f64 - arrivals).abs() <= arrivals * KEPT_TOLERANCE
    }
}

/// What a truth was found from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// The stamps of the answers.
    Answers,
    /// The freezes and the drain, because the tool left arrivals out.
    Model,
}

/// How long each user waited, shortest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waits {
    sorted_ns: Vec<u64>,
}

impl Waits {
    fn new(mut waits_ns: Vec<u64>) -> Self {
        waits_ns.sort_unstable();
        Self {
            sorted_ns: waits_ns,
        }
    }

    /// The wait that the share of users did not exceed (nearest rank), microseconds; 0 for no users.
    pub fn us_at(&self, share: f64) -> f64 {
        at_rank(&self.sorted_ns, share).map_or(0.0, |ns| ns as f64 / 1e3)
    }
}

fn at_rank<T: Copy>(sorted: &[T], share: f64) -> Option<T> {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted
        .get(rank.max(1) - 1)
        .or_else(|| sorted.last())
        .copied()
}

/// The waits that the answers show, for a run that kept its schedule.
pub fn observed(log: &ServerLog, schedule: Schedule, round_trip_ns: u64) -> Waits {
    let answers = (0..).zip(&log.answered_ns);
    let waits: Vec<i64> = answers
        .take(schedule.arrivals() as usize)
        .map(|(index, answered)| answered.cast_signed() - schedule.intended_ns(index).cast_signed())
        .collect();
    let mut sorted = waits.clone();
    sorted.sort_unstable();
    let prompt = at_rank(&sorted, PROMPT_SHARE).unwrap_or(0);
    let since_arrival = |wait: i64| u64::try_from(wait - prompt).unwrap_or(0) + round_trip_ns;
    Waits::new(waits.into_iter().map(since_arrival).collect())
}

/// The waits that the schedule's users would have had before a server with these freezes.
pub fn modelled(log: &ServerLog, schedule: Schedule, round_trip_ns: u64) -> Waits {
    let start = log.answered_ns.first().copied().unwrap_or(0);
    let drain_per_s = drain_per_s(&log.answered_ns, schedule);
    let service_ns = drain_per_s.map_or(0, |per_s| NS_PER_S / per_s);
    let mut free_at = 0;
    let wait = |index| {
        let arrived = start + schedule.intended_ns(index);
        let answered = thawed(arrived.max(free_at), &log.freezes);
        free_at = answered + service_ns;
        answered - arrived + round_trip_ns
    };
    Waits::new((0..schedule.arrivals()).map(wait).collect())
}

fn thawed(at_ns: u64, freezes: &[Freeze]) -> u64 {
    let frozen = |freeze: &&Freeze| (freeze.start_ns..freeze.end_ns).contains(&at_ns);
    freezes.iter().find(frozen).map_or(at_ns, |f| f.end_ns)
}

/// How fast tool and server together work off what has piled up: the most answers in any window of the run.
/// None when that was never faster than users arrive: nothing is known of the drain then.
fn drain_per_s(answered_ns: &[u64], schedule: Schedule) -> Option<u64> {
    let in_window = |(first, from): (usize, &u64)| {
        let until = answered_ns.partition_point(|at| *at < from + DRAIN_WINDOW_NS);
        (until - first) as u64
    };
    let most = answered_ns.iter().enumerate().map(in_window).max()?;
    Some(most * NS_PER_S / DRAIN_WINDOW_NS).filter(|per_s| *per_s > schedule.per_s)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: u64 = 1_000_000;

    fn log(answered_ms: &[u64], freezes_ms: &[(u64, u64)]) -> ServerLog {
        ServerLog {
            answered_ns: answered_ms.iter().map(|ms| ms * MS).collect(),
            freezes: freezes_ms
                .iter()
                .map(|(start, end)| Freeze {
                    start_ns: start * MS,
                    end_ns: end * MS,
                })
                .collect(),
        }
    }

    fn us(waits: &Waits) -> Vec<u64> {
        waits.sorted_ns.iter().map(|ns| ns / 1000).collect()
    }

    #[test]
    fn ranks() {
        let waits = Waits::new((1..=1000).rev().map(|us| us * 1000).collect());
        let cases = [
            (0.0, 1.0),
            (0.001, 1.0),
            (0.5, 500.0),
            (0.99, 990.0),
            (0.9991, 1000.0),
            (1.0, 1000.0),
        ];
        for (share, expected) in cases {
            assert_eq!(
                waits.us_at(share).to_bits(),
                f64::to_bits(expected),
                "{share}"
            );
        }
        assert_eq!(Waits::new(vec![]).us_at(0.5).to_bits(), 0);
    }

    #[test]
    fn waits_are_counted_from_the_schedule_wherever_it_starts() {
        // Ten users, one a millisecond; frozen from 3 to 6: those of 3, 4 and 5 are answered at 6.
        let schedule = Schedule {
            per_s: 1000,
            duration_ms: 10,
        };
        for start in [0, 70] {
            let answers = [0, 1, 2, 6, 6, 6, 6, 7, 8, 9].map(|ms| start + ms);
            let waits = observed(&log(&answers, &[]), schedule, 50_000);
            let expected = [50, 50, 50, 50, 50, 50, 50, 1050, 2050, 3050];
            assert_eq!(us(&waits), expected, "{start}");
        }
    }

    #[test]
    fn the_model_queues_behind_a_freeze_and_drains() {
        // One user a millisecond, frozen from 5 to 10, then two answers a millisecond (40 in the window).
        let schedule = Schedule {
            per_s: 1000,
            duration_ms: 20,
        };
        let mut served = log(&[0], &[(5, 10)]);
        served
            .answered_ns
            .extend((0..40).map(|k| 10 * MS + k * MS / 2));
        let waits = modelled(&served, schedule, 0);
        let mut expected = vec![0; 10];
        expected.extend([500, 1000, 1500, 2000, 2500, 3000, 3500, 4000, 4500, 5000]);
        assert_eq!(us(&waits), expected);
    }

    #[test]
    fn the_drain_is_the_fastest_window_if_faster_than_the_arrivals() {
        let schedule = Schedule {
            per_s: 1000,
            duration_ms: 1000,
        };
        let every = |step_us: u64, count: u64| (0..count).map(move |k| k * step_us * 1000);
        let steady: Vec<_> = every(1000, 500).collect();
        let burst: Vec<_> = every(1000, 200)
            .chain(every(100, 300).map(|at| 300 * MS + at))
            .collect();
        let cases = [(vec![], None), (steady, None), (burst, Some(10_000))];
        for (answered, expected) in cases {
            assert_eq!(drain_per_s(&answered, schedule), expected);
        }
    }

    #[test]
    fn a_run_is_on_schedule_within_a_thousandth() {
        let schedule = Schedule {
            per_s: 5000,
            duration_ms: 20_000,
        };
        for (answered, kept) in [
            (100_000, true),
            (99_900, true),
            (99_899, false),
            (100_101, false),
            (0, false),
        ] {
            assert_eq!(schedule.is_kept_by(answered), kept, "{answered}");
        }
    }

    proptest! {
        /// A server that behaves as the model is seen as it is, whatever the tool's start.
        #[test]
        fn answers_of_the_model_give_the_model(
            per_s in 100_u64..5_000,
            start_ns in 0..NS_PER_S,
            first_ms in 200_u64..500,
            length_ms in 0_u64..400,
            round_trip_ns in 0_u64..500_000,
        ) {
            let schedule = Schedule { per_s, duration_ms: 2_000 };
            let freeze = Freeze {
                start_ns: start_ns + first_ms * MS,
                end_ns: start_ns + (first_ms + length_ms) * MS,
            };
            // One answer tells nothing of a drain: the queue is gone at once.
            let told = ServerLog { answered_ns: vec![start_ns], freezes: vec![freeze] };
            let model = modelled(&told, schedule, round_trip_ns);
            let answered_ns = (0..schedule.arrivals())
                .map(|index| thawed(start_ns + schedule.intended_ns(index), &[freeze]))
                .collect();
            let seen = observed(&ServerLog { answered_ns, freezes: vec![freeze] }, schedule, round_trip_ns);
            prop_assert_eq!(&model, &seen);
            prop_assert!(model.us_at(0.0) * 1e3 >= round_trip_ns as f64 - 1.0);
            let longest_ns = model.us_at(1.0) * 1e3;
            prop_assert!(longest_ns <= (length_ms * MS + round_trip_ns) as f64 + 1.0);
        }

        /// Nobody is forgotten, and a longer freeze shortens nobody's wait.
        #[test]
        fn a_longer_freeze_is_no_better(length_ms in 0_u64..900, more_ms in 0_u64..100, share in 0.0..1.0_f64) {
            let schedule = Schedule { per_s: 1000, duration_ms: 2_000 };
            let waits = |length_ms| modelled(&log(&[0], &[(500, 500 + length_ms)]), schedule, 0);
            let (short, long) = (waits(length_ms), waits(length_ms + more_ms));
            prop_assert_eq!(short.sorted_ns.len() as u64, schedule.arrivals());
            prop_assert!(short.us_at(share) <= long.us_at(share));
        }
    }
}
