//! What flashdrill is held to, and whether this run shows it. A miss is told, not failed: times move.

use std::fmt;

use serde::Serialize;

use crate::result::{Comparison, Figure, Work};

/// A reported percentile may be off by this share, or by this much.
const TRUTH_SHARE: f64 = 0.02;
const TRUTH_US: f64 = 200.0;
const US: &str = "flashdrill";

/// CPU by request, in units of another tool's.
const RATIOS: [(Work, &str, f64); 6] = [
    (Work::Closed, "wrk", 1.0),
    (Work::Closed, "oha", 0.6),
    (Work::Closed, "vegeta", 0.1),
    (Work::Closed, "k6", 0.1),
    (Work::Closed, "Goose", 0.1),
    (Work::Pipelined, "wrk", 0.5),
];

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bar {
    pub claim: String,
    /// What was measured, in words.
    pub measured: Option<String>,
    pub outcome: Outcome,
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
        write!(f, "{word}  {}: {measured}", self.claim)
    }
}

pub fn bars(comparison: &Comparison) -> Vec<Bar> {
    let ratios = RATIOS.map(|(work, other, limit)| {
        ratio_bar(work, other, limit, comparison.ratio(US, other, work))
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
    let how = if work == Work::Pipelined {
        "pipelined"
    } else {
        "at depth 1"
    };
    Bar {
        claim: format!("CPU per request {how} <= {limit} of {other}"),
        measured: ratio.map(|ratio| format!("{ratio:.2}")),
        outcome: ratio.map_or(Outcome::Unmeasured, |ratio| Outcome::of(ratio <= limit)),
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::testing::comparison;

    fn outcome(comparison: &Comparison, claim: &str) -> Outcome {
        let bars = bars(comparison);
        let found = bars.iter().find(|bar| bar.claim.starts_with(claim));
        found.unwrap().outcome
    }

    #[test]
    fn ratios_against_their_limits() {
        // CPU per request at depth 1 of flashdrill, wrk, oha, vegeta.
        let cases = [
            (
                [4.0, 5.0, 10.0, 50.0],
                [Outcome::Ok, Outcome::Ok, Outcome::Ok],
            ),
            (
                [5.0, 5.0, 8.0, 50.0],
                [Outcome::Ok, Outcome::Miss, Outcome::Ok],
            ),
            (
                [6.0, 5.0, 10.0, 50.0],
                [Outcome::Miss, Outcome::Ok, Outcome::Miss],
            ),
        ];
        for (costs, expected) in cases {
            let comparison = comparison(&costs, &[]);
            let claims = ["1 of wrk", "0.6 of oha", "0.1 of vegeta"];
            let found = claims.map(|claim| {
                outcome(
                    &comparison,
                    &format!("CPU per request at depth 1 <= {claim}"),
                )
            });
            assert_eq!(found, expected, "{costs:?}");
            let k6 = outcome(&comparison, "CPU per request at depth 1 <= 0.1 of k6");
            assert_eq!(k6, Outcome::Unmeasured);
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
        let bar = ratio_bar(Work::Pipelined, "wrk", 0.5, Some(0.333));
        assert_eq!(
            bar.to_string(),
            "OK    CPU per request pipelined <= 0.5 of wrk: 0.33"
        );
        let bar = ratio_bar(Work::Closed, "k6", 0.1, None);
        assert_eq!(
            bar.to_string(),
            "-     CPU per request at depth 1 <= 0.1 of k6: not measured"
        );
    }
}
