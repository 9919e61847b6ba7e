//! CPU by request: what a tool used, by what the server answered. The tools take turns.

use crate::median::median;
use crate::request::Requests;
use crate::result::{Cost, Work};
use crate::tool::Pace;

use super::MeasureError;
use super::bench::{Bench, Guest, Run};

const NS_PER_S: f64 = 1e9;

/// What the work costs each tool that can do it.
pub fn costs(
    bench: &Bench,
    guests: &[Guest],
    work: Work,
) -> Result<Vec<(&'static str, Cost)>, MeasureError> {
    let mut runs: Vec<(&'static str, Vec<Run>)> = guests
        .iter()
        .map(|guest| (guest.tool.name(), Vec::new()))
        .collect();
    for turn in 1..=bench.settings.repeats {
        eprintln!("bench: {work:?}, turn {turn} of {}", bench.settings.repeats);
        for (guest, (_, runs)) in guests.iter().zip(&mut runs) {
            let (pace, requests) = bench.task(work);
            runs.extend(bench.run(guest, pace, requests, bench.settings.cost_ms, None)?);
        }
    }
    let costs = runs
        .iter()
        .filter_map(|(name, runs)| Some((*name, cost(runs)?)));
    Ok(costs.collect())
}

impl Bench {
    fn task(&self, work: Work) -> (Pace, Requests) {
        match work {
            Work::Closed(requests) => (Pace::Closed, requests),
            Work::Pipelined(requests) => (Pace::Pipelined, requests),
            Work::Paced => {
                let per_s = self.settings.paced_per_s;
                (Pace::Paced { per_s }, Requests::Same)
            }
        }
    }
}

/// None without runs: the tool has no such mode.
fn cost(runs: &[Run]) -> Option<Cost> {
    let repeats: Vec<f64> = runs
        .iter()
        .map(|run| run.cpu_us / run.log.answered_ns.len() as f64)
        .collect();
    let rates = runs.iter().map(|run| rate(&run.log.answered_ns)).collect();
    Some(Cost {
        cpu_us_per_request: median(repeats.clone())?,
        answered_per_s: median(rates)?,
        repeats,
        command: runs.first()?.command.clone(),
    })
}

/// Answers a second, from the first to the last.
fn rate(answered_ns: &[u64]) -> f64 {
    match answered_ns {
        [first, .., last] if last > first => {
            (answered_ns.len() - 1) as f64 * NS_PER_S / (last - first) as f64
        }
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates() {
        let cases = [
            (vec![], 0),
            (vec![7], 0),
            (vec![0, 500_000_000, 1_000_000_000], 2),
        ];
        for (answered, per_s) in cases {
            assert_eq!(rate(&answered).round() as u64, per_s, "{answered:?}");
        }
    }
}
