//! B1: orders do not pile up on their way. A queue that grows without bound is a sale that is not over when it is.

use super::case::{Case, Checker};
use super::finding::Finding;
use super::{CheckId, Witness};
use crate::figures::{count, moment};

pub struct Backlog;

impl Checker for Backlog {
    fn id(&self) -> CheckId {
        CheckId::B1
    }

    fn title(&self) -> &'static str {
        "Backlog bound: never more messages waiting than allowed"
    }

    fn judge(&self, case: &Case<'_>) -> Finding {
        let mut finding = Finding::default();
        let Some(max) = case.evidence.plan.expect.backlog_max else {
            finding.doubt("expect.backlog_max does not say how many may wait".to_owned());
            return finding;
        };
        let samples = case.evidence.samples.iter();
        let read: Vec<(i64, u64)> = samples
            .filter_map(|sample| Some((sample.at_ms, sample.queue_backlog?)))
            .collect();
        let Some((at_ms, worst)) = read.iter().max_by_key(|(_, left)| left).copied() else {
            finding.doubt("the queue was never read while the load ran".to_owned());
            return finding;
        };
        if worst > max {
            finding.violation("backlog beyond its bound", || Witness {
                subject: "queue".to_owned(),
                events: vec![
                    at(read.iter().find(|(_, left)| *left > max).copied()),
                    at(Some((at_ms, worst))),
                    format!("{} may wait at most", count(max)),
                ],
            });
        }
        let [worst, max] = [worst, max].map(count);
        finding.fact(format!("at most {worst} messages waited, {max} allowed"));
        finding
    }
}

fn at(reading: Option<(i64, u64)>) -> String {
    let (at_ms, left) = reading.unwrap_or_default();
    format!("{} {} messages are waiting", moment(at_ms), count(left))
}

#[cfg(test)]
mod tests {
    use super::super::Verdict::{Fail, Inconclusive, Pass};
    use super::super::tiny_history::{Tiny, assert_verdicts};
    use super::*;
    use crate::observe::Sample;

    fn waiting(lefts: &[Option<u64>]) -> Tiny {
        let samples = lefts.iter().enumerate().map(|(place, left)| Sample {
            at_ms: place as i64 * 500,
            queue_backlog: *left,
            ..Sample::default()
        });
        let samples: Vec<Sample> = samples.collect();
        Tiny::sale(2).bought(1).with(|e| {
            e.plan.expect.backlog_max = Some(10);
            e.samples = samples;
        })
    }

    #[test]
    fn the_worst_sample_decides() {
        assert_verdicts(
            CheckId::B1,
            vec![
                ("none waiting", waiting(&[Some(0), Some(0)]), Pass),
                ("up to the bound", waiting(&[Some(0), None, Some(10)]), Pass),
                (
                    "one more, for a moment",
                    waiting(&[Some(0), Some(11), Some(0)]),
                    Fail,
                ),
                ("never read", waiting(&[None, None]), Inconclusive),
                (
                    "no bound",
                    waiting(&[Some(0)]).with(|e| e.plan.expect.backlog_max = None),
                    Inconclusive,
                ),
            ],
        );
        let result = waiting(&[Some(10), Some(11), Some(40), Some(2)]).check(CheckId::B1);
        let events = result.witnesses[0].witness.events.join("\n");
        assert!(
            events.contains("+0.5 s 11") && events.contains("+1.0 s 40"),
            "{events}"
        );
    }
}
