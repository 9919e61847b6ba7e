//! G1: once everything is sold, buyers are refused from memory. A service that asks its stores for each refusal holds as
//! long as they do, which in a flash sale is not long.

use super::case::{Case, Checker};
use super::finding::Finding;
use super::{CheckId, Evidence, Witness};
use crate::drill::last_call::is_last_call;
use crate::figures::count;
use crate::history::operation::{Operation, Outcome};
use crate::observe::Sample;

/// With fewer refusals than this, what the stores are asked anyway is all that is seen.
const REFUSALS_MIN: u64 = 1_000;

/// The refusals while nothing was left.
#[derive(Debug, Default)]
pub struct GateRefusals {
    /// The stretch at the end of the load in which nothing was left, ms; None: there was none.
    sold_out_ms: Option<(u64, u64)>,
    refusals: u64,
}

impl GateRefusals {
    pub fn new(evidence: &Evidence) -> Self {
        let stretch = sold_out(evidence);
        let ms = |sample: &Sample| u64::try_from(sample.at_ms).unwrap_or(0);
        let ends = stretch.first().zip(stretch.last());
        Self {
            sold_out_ms: ends.map(|(first, last)| (ms(first), ms(last))),
            refusals: 0,
        }
    }

    /// Notes a buy.
    pub fn observe(&mut self, operation: &Operation) {
        let at_ms = operation.completed_ns / 1_000_000;
        let within = |&(from_ms, to_ms): &(u64, u64)| (from_ms..to_ms).contains(&at_ms);
        let refused = operation.outcome == Outcome::Refused && !is_last_call(operation.key);
        if refused && self.sold_out_ms.as_ref().is_some_and(within) {
            self.refusals += 1;
        }
    }
}

/// The last samples of the load, from the one on after which no unit was left in any of them.
fn sold_out(evidence: &Evidence) -> &[Sample] {
    let load_ms = i64::try_from(evidence.load.duration_ms).unwrap_or(i64::MAX);
    let samples = &evidence.samples;
    let end = samples.partition_point(|sample| sample.at_ms <= load_ms);
    let during = &samples[..end];
    let nothing_left = |sample: &&Sample| {
        sample.store_available == Some(0) && sample.cache_available.is_none_or(|units| units == 0)
    };
    let length = during.iter().rev().take_while(nothing_left).count();
    &during[during.len() - length..]
}

pub struct GateHolds;

impl Checker for GateHolds {
    fn id(&self) -> CheckId {
        CheckId::G1
    }

    fn title(&self) -> &'static str {
        "The gate holds: once all is sold, refusals do not reach the stores"
    }

    fn judge(&self, case: &Case<'_>) -> Finding {
        let mut finding = Finding::default();
        if let Some(gap) = case.history_gap() {
            finding.doubt(gap);
        }
        let refusals = case.purchases.gate.refusals;
        let stretch = sold_out(case.evidence);
        if refusals < REFUSALS_MIN {
            let [refusals, least] = [refusals, REFUSALS_MIN].map(count);
            finding.doubt(format!(
                "{refusals} buyers were refused while nothing was left; {least} are needed to tell"
            ));
        }
        let called: Vec<(&str, u64)> = match stretch {
            [first, .., last] => calls(first, last),
            _ => Vec::new(),
        };
        if called.is_empty() {
            finding.doubt("the stores' calls were not counted".to_owned());
        }
        if finding.has_doubts() {
            return finding;
        }
        let max = case.evidence.plan.expect.store_calls_per_refusal_max;
        for (store, calls) in called {
            let share = calls as f64 / refusals as f64;
            let [calls, refusals] = [calls, refusals].map(count);
            if share > max {
                finding.violation("store that is asked for refusals", || Witness {
                    subject: store.to_owned(),
                    events: vec![
                        format!(
                            "nothing was left for the last {:.1} s of the load",
                            length_s(stretch)
                        ),
                        format!("{refusals} buyers were refused, {store} was asked {calls} times"),
                        format!("{share:.3} calls a refusal; at most {max}"),
                    ],
                });
            }
            finding.fact(format!("{store}: {calls} calls for {refusals} refusals"));
        }
        finding
    }
}

fn length_s(stretch: &[Sample]) -> f64 {
    match stretch {
        [first, .., last] => (last.at_ms - first.at_ms) as f64 / 1e3,
        _ => 0.0,
    }
}

/// What each store was asked between two samples. One that started anew in between counts from there.
fn calls<'s>(first: &Sample, last: &'s Sample) -> Vec<(&'s str, u64)> {
    let since = |(store, calls): (&'s String, &u64)| {
        let before = *first.store_calls.get(store)?;
        Some((store.as_str(), calls.saturating_sub(before)))
    };
    last.store_calls.iter().filter_map(since).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Verdict::{Fail, Inconclusive, Pass};
    use super::super::tiny_history::{Tiny, assert_verdicts};
    use super::*;

    /// Nothing is left from the second sample on, 2,000 buyers are refused in the 20 s from it to the end of the load, and
    /// Redis is asked this often; afterwards it is asked much more.
    fn sold_out_sale(redis_calls: u64) -> Tiny {
        let mut tiny = Tiny::sale(1).bought(1);
        for key in 0..2_100 {
            tiny = tiny.refused(10 + key, "sold_out");
        }
        let sample = |at_ms: i64, left: i64, calls: u64| Sample {
            at_ms,
            store_available: Some(left),
            cache_available: Some(left),
            store_calls: [("redis".to_owned(), 100 + calls)].into(),
            ..Sample::default()
        };
        let samples = vec![
            sample(0, 1, 0),
            sample(500, 0, 50),
            sample(10_000, 0, 50 + redis_calls / 2),
            sample(20_500, 0, 50 + redis_calls),
            sample(20_501, 0, 9_000),
        ];
        tiny.with(|e| {
            e.load.sent = 2_101;
            e.load.duration_ms = 20_500;
            e.plan.expect.store_calls_per_refusal_max = 0.1;
            e.samples = samples;
        })
    }

    #[test]
    fn refusals_from_memory_pass_and_others_fail() {
        let reopened = sold_out_sale(20).with(|e| e.samples[2].cache_available = Some(1));
        let mut served = sold_out_sale(200);
        served.operations[60].outcome = Outcome::Accepted;
        // A hundred buyers a second are refused from 0.5 s on.
        let refused_until = |ms: u64| {
            sold_out_sale(90).with(|e| {
                e.load.duration_ms = ms;
                e.samples[3].at_ms = ms as i64;
            })
        };
        assert_verdicts(
            CheckId::G1,
            vec![
                ("what is asked anyway", sold_out_sale(190), Pass),
                ("one call in ten, as allowed", sold_out_sale(200), Pass),
                ("one more", sold_out_sale(201), Fail),
                ("one call a refusal", sold_out_sale(2_000), Fail),
                ("one call in nine", sold_out_sale(230), Fail),
                ("never sold out long enough", reopened, Inconclusive),
                ("one of the buyers was served", served, Fail),
                ("just enough were refused", refused_until(10_500), Pass),
                ("one too few", refused_until(10_490), Inconclusive),
                (
                    "calls not counted",
                    sold_out_sale(190)
                        .with(|e| e.samples.iter_mut().for_each(|one| one.store_calls.clear())),
                    Inconclusive,
                ),
                (
                    "hardly anybody refused",
                    Tiny::sale(1).bought(1).refused(2, "sold_out"),
                    Inconclusive,
                ),
            ],
        );
        let result = sold_out_sale(2_000).check(CheckId::G1);
        let events = result.witnesses[0].witness.events.join("\n");
        assert!(events.contains("was asked 2,000 times"), "{events}");
        assert!(events.contains("for the last 20.0 s"), "{events}");
    }
}
