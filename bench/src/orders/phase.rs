//! What one phase of a drill's load was answered.

use std::io;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use crate::drills::{plan, verdict};

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Phase {
    pub offered_per_s: f64,
    pub accepted_per_s: f64,
}

impl Phase {
    /// # Errors
    /// The run has no such phase, or does not say.
    pub fn of(run: &Path, name: &str) -> io::Result<Self> {
        let planned = plan(run)?;
        let answered = verdict(run)?;
        Self::read(&planned["load"]["schedule"], &answered["load"], name)
            .ok_or_else(|| io::Error::other(format!("the run says nothing of its phase {name}")))
    }

    fn read(planned: &Value, answered: &Value, name: &str) -> Option<Self> {
        let named = |load: &Value| {
            let phases = load["phases"].as_array()?;
            phases.iter().find(|phase| phase["name"] == name).cloned()
        };
        let seconds = named(planned)?["duration_ms"].as_f64()? / 1e3;
        let answered = named(answered)?;
        // A kind of answer that nobody got is left out.
        let accepted = &answered["responses"]["accepted"]["count"];
        Some(Self {
            offered_per_s: answered["offered"].as_f64()? / seconds,
            accepted_per_s: accepted.as_f64().unwrap_or(0.0) / seconds,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_phase_is_counted_by_its_name_and_length() {
        let planned = json!({"phases": [
            {"name": "warm-up", "duration_ms": 1_000},
            {"name": "rush", "duration_ms": 2_000},
        ]});
        let answered = json!({"phases": [
            {"name": "warm-up", "offered": 9, "responses": {}},
            {"name": "rush", "offered": 8, "responses": {"accepted": {"count": 6}}},
        ]});
        let read = |name| Phase::read(&planned, &answered, name);
        let phase = |offered_per_s, accepted_per_s| Phase {
            offered_per_s,
            accepted_per_s,
        };
        assert_eq!(read("rush"), Some(phase(4.0, 3.0)));
        assert_eq!(read("warm-up"), Some(phase(9.0, 0.0)));
        assert_eq!(read("cliff"), None);
    }
}
