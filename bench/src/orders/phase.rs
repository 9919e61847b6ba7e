//! What one phase of a drill's load was answered, and what the store had of it.

use std::io;
use std::ops::RangeInclusive;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use crate::drills::{plan, samples, verdict};

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Phase {
    pub offered_per_s: f64,
    pub accepted_per_s: f64,
    /// Units that MySQL gave away meanwhile: a buyer may be told yes before, and an order of an earlier phase come now.
    pub written_per_s: f64,
}

impl Phase {
    /// # Errors
    /// The run has no such phase, or does not say.
    pub fn of(run: &Path, name: &str) -> io::Result<Self> {
        let planned = &plan(run)?["load"]["schedule"]["phases"];
        let answered = &verdict(run)?["load"]["phases"];
        Self::read(planned, answered, &samples(run)?, name)
            .ok_or_else(|| io::Error::other(format!("the run says nothing of its phase {name}")))
    }

    fn read(planned: &Value, answered: &Value, samples: &[Value], name: &str) -> Option<Self> {
        let period_ms = period_ms(planned, name)?;
        let seconds = (period_ms.end() - period_ms.start()) / 1e3;
        let answered = answered.as_array()?;
        let answered = answered.iter().find(|phase| phase["name"] == name)?;
        // A kind of answer that nobody got is left out.
        let accepted = &answered["responses"]["accepted"]["count"];
        Some(Self {
            offered_per_s: answered["offered"].as_f64()? / seconds,
            accepted_per_s: accepted.as_f64().unwrap_or(0.0) / seconds,
            written_per_s: written_per_s(samples, &period_ms)?,
        })
    }
}

/// From and to, since the load began.
fn period_ms(planned: &Value, name: &str) -> Option<RangeInclusive<f64>> {
    let mut begins_ms = 0.0;
    for phase in planned.as_array()? {
        let ends_ms = begins_ms + phase["duration_ms"].as_f64()?;
        if phase["name"] == name {
            return Some(begins_ms..=ends_ms);
        }
        begins_ms = ends_ms;
    }
    None
}

/// Between the first and the last look at the store in a period; None if it was not seen twice.
fn written_per_s(samples: &[Value], period_ms: &RangeInclusive<f64>) -> Option<f64> {
    let seen = |sample: &Value| {
        let at_ms = sample["at_ms"].as_f64()?;
        let available = sample["store_available"].as_f64()?;
        period_ms.contains(&at_ms).then_some((at_ms, available))
    };
    let mut seen = samples.iter().filter_map(seen);
    let (first, last) = (seen.next()?, seen.next_back()?);
    Some((first.1 - last.1) / (last.0 - first.0) * 1e3)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_phase_is_counted_by_its_name_and_length() {
        let planned = json!([
            {"name": "warm-up", "duration_ms": 1_000},
            {"name": "rush", "duration_ms": 2_000},
            {"name": "unseen", "duration_ms": 2_000},
        ]);
        let answered = json!([
            {"name": "warm-up", "offered": 9, "responses": {}},
            {"name": "rush", "offered": 8, "responses": {"accepted": {"count": 6}}},
            {"name": "unseen", "offered": 8, "responses": {}},
        ]);
        // While the store does not answer, a sample says nothing of it.
        let samples = [
            json!({"at_ms": -10, "store_available": 90}),
            json!({"at_ms": 0, "store_available": 90}),
            json!({"at_ms": 500, "store_available": 89}),
            json!({"at_ms": 1_500, "store_available": 80}),
            json!({"at_ms": 2_000, "store_available": null}),
            json!({"at_ms": 2_500, "store_available": 60}),
            json!({"at_ms": 3_500, "store_available": 0}),
        ];
        let read = |name| Phase::read(&planned, &answered, &samples, name);
        let phase = |offered_per_s, accepted_per_s, written_per_s| Phase {
            offered_per_s,
            accepted_per_s,
            written_per_s,
        };
        assert_eq!(read("rush"), Some(phase(4.0, 3.0, 20.0)));
        assert_eq!(read("warm-up"), Some(phase(9.0, 0.0, 2.0)));
        assert_eq!(read("unseen"), None, "the store was seen once");
        assert_eq!(read("cliff"), None);
    }
}
