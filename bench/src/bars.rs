//! What flashdrill is held to, and whether this run shows it. A miss is told, not failed: times move.

use std::fmt;

use serde::Serialize;

use crate::request::Requests;
use crate::result::{Comparison, Figure, Work};

/// A reported percentile may be off by this share, or by this much.
const TRUTH_SHARE: f64 = 0.02;
const TRUTH_US: f64 = 200.0;
const US: &str = "flashdrill";

/// CPU by request, in units of another tool's. A sale's load needs own requests, so these are judged wherever the
/// other tool can send them.
const RATIOS: [(Work, &str, f64); 6] = [
    (Work::Closed(Requests::Own), "wrk", 1.0),
    (Work::Closed(Requests::Same), "oha", 0.6),
    (Work::Closed(Requests::Same), "vegeta", 0.1),
    (Work::Closed(Requests::Same), "k6", 0.1),
    (Work::Closed(Requests::Same), "Goose", 0.1),
    (Work::Pipelined(Requests::Own), "wrk", 0.5),
];

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bar {
    pub claim: String,
    /// What was measured, in words.
    pub measured: Option<String>,
    pub outcome: Outcome,
    /// For information, not judged: the ratio when all requests are the same, where own ones are judged.
    pub same_ratio: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Ok,
    Miss,
    /// One of the tools is not here.
    Unmeasured,
}

impl Outcome {
    fn of(is_ok: bool) -> Self {
        if is_ok { Self::Ok } else { Self::Miss }
    }
}

impl fmt::Display for Bar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.outcome {
            Outcome::Ok => "OK  ",
            Outcome::Miss => "MISS",
            Outcome::Unmeasured => "-   ",
        };
        let measured = self.measured.as_deref().unwrap_or("not measured");
        write!(f, "{word}  {}: {measured}", self.claim)?;
        match self.same_ratio {
            Some(ratio) => write!(f, "\n      (for information, same requests: {ratio:.2})"),
            None => Ok(()),
        }
    }
}

pub fn bars(comparison: &Comparison) -> Vec<Bar> {
    let ratios = RATIOS.map(|(work, other, limit)| {
        let ratio = |work| comparison.ratio(US, other, work);
        Bar {
            same_ratio: same(work).and_then(ratio),
            ..ratio_bar(work, other, limit, ratio(work))
        }
    });
    let said = comparison.tool(US).and_then(|tool| tool.truth.as_ref());
    let truths = [
        ("p50", said.map(|said| said.p50)),
        ("p99", said.map(|said| said.p99)),
        ("p99.9", said.map(|said| said.p999)),
    ]
    .map(|(name, figure)| truth_bar(name, figure));
    ratios.into_iter().chain(truths).collect()
}

fn ratio_bar(work: Work, other: &str, limit: f64, ratio: Option<f64>) -> Bar {
    let (how, requests) = match work {
        Work::Closed(requests) => ("at depth 1", requests),
        Work::Paced => ("paced", Requests::Same),
        Work::Pipelined(requests) => ("pipelined", requests),
    };
    let which = match requests {
        Requests::Same => "same",
        Requests::Own => "own",
    };
    Bar {
        claim: format!("CPU per request {how} ({which}) <= {limit} of {other}"),
        measured: ratio.map(|ratio| format!("{ratio:.2}")),
        outcome: ratio.map_or(Outcome::Unmeasured, |ratio| Outcome::of(ratio <= limit)),
        same_ratio: None,
    }
}

/// The work with the same requests, where this is with own ones.
fn same(work: Work) -> Option<Work> {
    match work {
        Work::Closed(Requests::Own) => Some(Work::Closed(Requests::Same)),
        Work::Pipelined(Requests::Own) => Some(Work::Pipelined(Requests::Same)),
        Work::Paced | Work::Closed(Requests::Same) | Work::Pipelined(Requests::Same) => None,
    }
}

fn truth_bar(name: &str, figure: Option<Figure>) -> Bar {
    let is_true =
        |figure: Figure| figure.error().abs() <= TRUTH_SHARE || figure.off_us() <= TRUTH_US;
    Bar {
        claim: format!("{name} before a server that freezes within 2 % or 0.2 ms of the truth"),
        measured: figure.map(|figure| {
            let (percent, off_ms) = (figure.error() * 100.0, figure.off_us() / 1e3);
            format!("{percent:+.1} %, {off_ms:.2} ms")
        }),
        outcome: figure.map_or(Outcome::Unmeasured, |figure| Outcome::of(is_true(figure))),
        same_ratio: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::testing::{comparison, set};

    fn outcome(comparison: &Comparison, claim: &str) -> Outcome {
        let bars = bars(comparison);
        let found = bars.iter().find(|bar| bar.claim.starts_with(claim));
        found.unwrap().outcome
    }

    #[test]
    fn ratios_against_their_limits() {
        // CPU per same request at depth 1 of flashdrill, wrk, oha, vegeta.
        let cases = [
            ([4.0, 5.0, 10.0, 50.0], [Outcome::Ok, Outcome::Ok]),
            ([5.0, 5.0, 8.0, 50.0], [Outcome::Miss, Outcome::Ok]),
            ([6.0, 5.0, 10.0, 50.0], [Outcome::Ok, Outcome::Miss]),
        ];
        for (costs, expected) in cases {
            let comparison = comparison(&costs, &[]);
            let found = ["0.6 of oha", "0.1 of vegeta"].map(|claim| {
                let claim = format!("CPU per request at depth 1 (same) <= {claim}");
                outcome(&comparison, &claim)
            });
            assert_eq!(found, expected, "{costs:?}");
            let k6 = "CPU per request at depth 1 (same) <= 0.1 of k6";
            assert_eq!(outcome(&comparison, k6), Outcome::Unmeasured);
        }
    }

    #[test]
    fn wrk_is_compared_by_own_requests_and_the_same_ones_judge_nothing() {
        const CLAIMS: [&str; 2] = [
            "CPU per request at depth 1 (own) <= 1 of wrk",
            "CPU per request pipelined (own) <= 0.5 of wrk",
        ];
        // CPU of flashdrill and wrk; the same ones would be judged otherwise.
        let cases = [
            (
                (5.0, 5.0),
                (6.0, 5.0),
                Outcome::Ok,
                (0.5, 1.0),
                (0.9, 1.0),
                Outcome::Ok,
            ),
            (
                (6.0, 5.0),
                (4.0, 5.0),
                Outcome::Miss,
                (0.6, 1.0),
                (0.4, 1.0),
                Outcome::Miss,
            ),
        ];
        for (own, same, closed, own_deep, same_deep, pipelined) in cases {
            let mut comparison = comparison(&[same.0, same.1], &[]);
            assert_eq!(outcome(&comparison, CLAIMS[0]), Outcome::Unmeasured);
            let works = [
                (Work::Closed(Requests::Own), own),
                (Work::Pipelined(Requests::Own), own_deep),
                (Work::Pipelined(Requests::Same), same_deep),
            ];
            for (work, (us, wrk)) in works {
                set(&mut comparison, work, &[(US, us), ("wrk", wrk)]);
            }
            let found = CLAIMS.map(|claim| outcome(&comparison, claim));
            assert_eq!(found, [closed, pipelined], "{own:?} {own_deep:?}");
            let bars = bars(&comparison);
            let beside: Vec<_> = bars.iter().filter_map(|bar| bar.same_ratio).collect();
            assert_eq!(beside, [same.0 / same.1, same_deep.0 / same_deep.1]);
        }
    }

    #[test]
    fn the_truth_within_a_share_or_an_amount() {
        let cases = [
            ((310.0, 120.0), Outcome::Ok),
            ((330.0, 120.0), Outcome::Miss),
            ((1_000.0, 900_000.0), Outcome::Miss),
            ((917_000.0, 900_000.0), Outcome::Ok),
            ((881_000.0, 900_000.0), Outcome::Miss),
        ];
        for ((said_us, true_us), expected) in cases {
            let figure = Figure { said_us, true_us };
            assert_eq!(
                truth_bar("p99", Some(figure)).outcome,
                expected,
                "{figure:?}"
            );
        }
        assert_eq!(truth_bar("p99", None).outcome, Outcome::Unmeasured);
    }

    #[test]
    fn a_bar_reads_as_a_line() {
        let bar = Bar {
            same_ratio: Some(0.456),
            ..ratio_bar(Work::Pipelined(Requests::Own), "wrk", 0.5, Some(0.333))
        };
        assert_eq!(
            bar.to_string(),
            "OK    CPU per request pipelined (own) <= 0.5 of wrk: 0.33\n      \
             (for information, same requests: 0.46)"
        );
        let bar = ratio_bar(Work::Closed(Requests::Same), "k6", 0.1, None);
        assert_eq!(
            bar.to_string(),
            "-     CPU per request at depth 1 (same) <= 0.1 of k6: not measured"
        );
    }
}
