//! How requests are offered.

use super::phase::{duration_ms, phase};
use crate::drill::file::{LoadSection, ShortSection};
use crate::drill::plan::Load;
use crate::drill::problems::Problems;
use crate::load::schedule::Schedule;

pub fn check(section: &LoadSection, problems: &mut Problems) {
    if section.phases.is_empty() {
        problems.push("load.phases", "empty; at least one phase is needed");
    }
}

/// When the last phase ends.
pub fn end_ms(section: &LoadSection) -> u64 {
    let each = section.phases.iter().map(duration_ms);
    each.map(u64::from).sum()
}

pub fn load(section: &LoadSection, short: Option<&ShortSection>) -> Load {
    Load {
        schedule: Schedule {
            phases: section
                .phases
                .iter()
                .map(|written| phase(written, short))
                .collect(),
        },
        connections: section.connections.get(),
        depth: section.depth.get(),
        timeout_ms: section.timeout_ms.get().into(),
    }
}
