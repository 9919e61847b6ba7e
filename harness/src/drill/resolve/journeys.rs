//! Whole buyers beside the load.

use super::load;
use super::short::Shrink;
use super::trace::Traces;
use crate::drill::file::{DrillFile, JourneysSection};
use crate::drill::problems::Problems;
use crate::journeys::Journeys;
use crate::target::Target;

/// Each buyer is a task with a connection of its own; for more load than this there is the open loop.
const USERS_MAX: u32 = 10_000;

/// `--short` brings fewer buyers, as it brings fewer arrivals.
pub fn journeys(section: &JourneysSection, shrink: Shrink) -> Journeys {
    Journeys {
        users: shrink.buyers(section.users.get()),
        hatch_per_s: section.hatch_per_s.get(),
        think_ms: section.think_ms.get().into(),
        pay_share: section.pay_share.get(),
        cancel_share: section.cancel_share.get(),
        poll_every_ms: section.poll_every_ms.get().into(),
        poll_max: section.poll_max.get(),
        starts_at_ms: shrink.at(section.starts_at_ms),
    }
}

/// Contradictions within the section, with the load, and with the target.
pub fn check(file: &DrillFile, target: Option<&Target>, traces: &Traces, problems: &mut Problems) {
    let Some(section) = &file.journeys else {
        return;
    };
    let users = section.users.get();
    if users > USERS_MAX {
        let message = format!("{users} is too many; expected 1 to {USERS_MAX}");
        problems.push("journeys.users", message);
    }
    if section.hatch_per_s.get() == 0.0 {
        let message = "0 is no rate for buyers to come at; expected above 0";
        problems.push("journeys.hatch_per_s", message);
        return;
    }
    let sum = section.pay_share.get() + section.cancel_share.get();
    if sum > 1.0 {
        let message = format!("pay_share + cancel_share is {sum}; at most 1");
        problems.push("journeys", message);
    }
    let load_ms = file
        .load
        .as_ref()
        .and_then(|load| load::end_ms(load, traces));
    if let Some(load_ms) = load_ms {
        check_times(section, load_ms, problems);
    }
    if let Some(target) = target {
        check_target(target, problems);
    }
}

fn check_times(section: &JourneysSection, load_ms: u64, problems: &mut Problems) {
    let starts_at_ms = section.starts_at_ms;
    if starts_at_ms >= load_ms {
        let message = format!("{starts_at_ms} is after the load's end at {load_ms} ms");
        problems.push("journeys.starts_at_ms", message);
        return;
    }
    let hatching_s = f64::from(section.users.get() - 1) / section.hatch_per_s.get();
    let last_ms = starts_at_ms as f64 + hatching_s * 1e3;
    if last_ms >= load_ms as f64 {
        let message = format!(
            "the last of {} buyers would come at {last_ms:.0} ms, after the load's end at {load_ms} ms",
            section.users.get()
        );
        problems.push("journeys.hatch_per_s", message);
    }
}

/// What a journey needs to know of the target beyond what the load needs.
fn check_target(target: &Target, problems: &mut Problems) {
    if target.requests.challenge.is_some() != target.challenge_field.is_some() {
        problems.push(
            "target",
            "requests.challenge and challenge_field belong together; one of them is missing",
        );
    }
    if target.state.order_states.is_empty() {
        problems.push(
            "target",
            "state.order_states is empty, so a journey cannot tell when an order is final",
        );
    }
}
