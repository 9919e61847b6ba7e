//! The highest rate that a tool holds, as the server sees it: nothing that the tool says is needed.

use crate::request::Requests;
use crate::result::{Highest, Step};
use crate::server::ServerLog;
use crate::tool::Pace;
use crate::truth::{Schedule, observed};

use super::MeasureError;
use super::bench::{Bench, Guest};

/// This share of the arrivals must be answered by the end of the schedule, and a moment for the last ones.
const HELD_SHARE: f64 = 0.999;
const LAST_ONES_NS: u64 = 10_000_000;
/// And they must not have waited longer, counted from their places in the schedule.
const HELD_WAIT_US_P99: f64 = 10_000.0;
/// A single step may be spoiled by something else that the machine does.
const MISSES_UNTIL_THE_END: usize = 2;

/// Climbs the ladder; None for a tool that cannot pace.
pub fn highest(bench: &Bench, guest: &Guest) -> Result<Option<Highest>, MeasureError> {
    let mut steps: Vec<Step> = Vec::new();
    for &per_s in bench.settings.ladder_per_s {
        let schedule = Schedule {
            per_s,
            duration_ms: bench.settings.step_ms,
        };
        eprintln!("bench: {} at {per_s}/s", guest.tool.name());
        let (pace, duration_ms) = (Pace::Paced { per_s }, schedule.duration_ms);
        let Some(run) = bench.run(guest, pace, Requests::Same, duration_ms, None)? else {
            return Ok(None);
        };
        steps.push(step(&run.log, schedule));
        let misses = steps.iter().rev().take_while(|step| !step.is_held);
        if misses.count() == MISSES_UNTIL_THE_END {
            break;
        }
    }
    let held = steps.iter().filter(|step| step.is_held);
    Ok(Some(Highest {
        held_per_s: held.map(|step| step.per_s).max(),
        steps,
    }))
}

fn step(log: &ServerLog, schedule: Schedule) -> Step {
    let first = log.answered_ns.first().copied().unwrap_or(0);
    let end = first + schedule.duration_ms * 1_000_000 + LAST_ONES_NS;
    let in_time = log.answered_ns.partition_point(|at| *at <= end);
    let answered_share = in_time as f64 / schedule.arrivals() as f64;
    let wait_us_p99 = schedule
        .is_kept_by(log.answered_ns.len())
        .then(|| observed(log, schedule, 0).us_at(0.99));
    Step {
        per_s: schedule.per_s,
        answered_share,
        wait_us_p99,
        is_held: answered_share >= HELD_SHARE
            && wait_us_p99.is_some_and(|us| us <= HELD_WAIT_US_P99),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEDULE: Schedule = Schedule {
        per_s: 1000,
        duration_ms: 1000,
    };

    fn held(answered_us: impl Iterator<Item = u64>) -> bool {
        let log = ServerLog {
            answered_ns: answered_us.map(|us| us * 1000).collect(),
            freezes: Vec::new(),
        };
        step(&log, SCHEDULE).is_held
    }

    #[test]
    fn held_means_all_and_on_time() {
        assert!(held((0..1000).map(|k| k * 1000)), "on schedule");
        assert!(
            held((0..1000).map(|k| 5_000_000 + k * 1000)),
            "whenever it starts"
        );
        assert!(held((0..1000).map(|k| k / 8 * 8000)), "in bursts of 8 ms");
        assert!(!held((0..998).map(|k| k * 1000)), "some are never sent");
        assert!(!held((0..1000).map(|k| k * 1100)), "too slow");
        assert!(
            !held((0..1000).map(|k| k / 100 * 100_000)),
            "in bursts of 100 ms"
        );
        assert!(
            !held((0..1000).map(|k| k.max(500) * 1000)),
            "half a second late at first"
        );
        assert!(!held(std::iter::empty()), "nothing");
    }
}
