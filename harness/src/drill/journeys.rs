//! The `[journeys]` section of a drill file: whole buyers beside the load. As written, and its way into
//! the plan.

use deserr::Deserr;

use super::file::{DrillFile, ShortSection};
use super::problems::Problems;
use super::range::{Count, Rate, Share};
use crate::journeys::Journeys;
use crate::target::Target;

/// Each buyer is a task with a connection of its own; for more load than this there is the open loop.
const USERS_MAX: u32 = 10_000;

#[derive(Debug, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct JourneysSection {
    /// Buyers at the same time.
    pub users: Count,
    /// Buyers that come per second, until all are there.
    #[deserr(default = Rate::new(10.0).expect("10 is a rate"))]
    pub hatch_per_s: Rate,
    /// Pause of a buyer between two steps, and between two journeys.
    #[deserr(default = Count::new(200).expect("200 is in range"))]
    pub think_ms: Count,
    /// Buyers with an order who pay, and who cancel; the others leave it.
    #[deserr(default = Share::new(0.0).expect("0 is a share"))]
    pub pay_share: Share,
    #[deserr(default = Share::new(0.0).expect("0 is a share"))]
    pub cancel_share: Share,
    #[deserr(default = Count::new(200).expect("200 is in range"))]
    pub poll_every_ms: Count,
    /// Polls after which a buyer gives up.
    #[deserr(default = Count::new(20).expect("20 is in range"))]
    pub poll_max: Count,
    /// When the first buyer comes, from the first arrival.
    #[deserr(default = 0)]
    pub starts_at_ms: u64,
}

impl JourneysSection {
    /// The plan of it; `--short` brings fewer buyers, as it brings fewer arrivals.
    pub fn resolve(&self, short: Option<&ShortSection>) -> Journeys {
        let share = short.map_or(1.0, |short| short.rate_share.get());
        let time_share = short.map_or(1.0, |short| short.duration_share.get());
        let users = f64::from(self.users.get()) * share;
        Journeys {
            users: (users.round() as u32).max(1),
            hatch_per_s: self.hatch_per_s.get(),
            think_ms: self.think_ms.get().into(),
            pay_share: self.pay_share.get(),
            cancel_share: self.cancel_share.get(),
            poll_every_ms: self.poll_every_ms.get().into(),
            poll_max: self.poll_max.get(),
            starts_at_ms: (self.starts_at_ms as f64 * time_share) as u64,
        }
    }
}

/// Contradictions within the section, with the load, and with the target. `load_ms` is the length of
/// the load.
pub fn check(
    file: &DrillFile,
    target: Option<&Target>,
    load_ms: Option<u64>,
    problems: &mut Problems,
) {
    let Some(section) = &file.journeys else {
        return;
    };
    let users = section.users.get();
    if users > USERS_MAX {
        let message = format!("{users} is too many; expected 1 to {USERS_MAX}");
        problems.push("journeys.users", message);
    }
    let sum = section.pay_share.get() + section.cancel_share.get();
    if sum > 1.0 {
        let message = format!("pay_share + cancel_share is {sum}; at most 1");
        problems.push("journeys", message);
    }
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
