//! What takes place of the faults, and when.

use super::faults::fault;
use super::load::end_ms;
use super::short::Shrink;
use super::trace::Traces;
use crate::drill::file::{ComposeSection, DrillFile, FaultSection};
use crate::drill::problems::Problems;
use crate::faults::PlannedFault;
use crate::faults::compose::Composition;

pub fn check(file: &DrillFile, traces: &Traces, shrink: Shrink, problems: &mut Problems) {
    let (Some(section), Some(sections)) = (&file.compose, &file.faults) else {
        return;
    };
    if sections.is_empty() {
        problems.push("compose", "there are no faults to compose");
        return;
    }
    let choose = section.choose.map_or(0, |count| count.get() as usize);
    if choose > sections.len() {
        let message = format!("{choose} of {} faults", sections.len());
        problems.push("compose.choose", message);
    }
    let Some(end_ms) = file.load.as_ref().and_then(|load| end_ms(load, traces)) else {
        return;
    };
    let end_ms = shrink.at(end_ms);
    let latest_ms = composition(section, shrink).latest_ms(&written(sections, shrink));
    if latest_ms >= end_ms {
        let message = format!(
            "a fault may be injected at {latest_ms} ms, after the load's end at {end_ms} ms"
        );
        problems.push("compose", message);
    }
}

/// The plan's faults: a pure function of the sections and the seed.
pub fn planned(
    sections: &[FaultSection],
    compose: Option<&ComposeSection>,
    shrink: Shrink,
    seed: u64,
) -> Vec<PlannedFault> {
    let written = written(sections, shrink);
    match compose {
        None => written,
        Some(section) => composition(section, shrink).compose(&written, seed),
    }
}

fn written(sections: &[FaultSection], shrink: Shrink) -> Vec<PlannedFault> {
    sections
        .iter()
        .map(|section| fault(section, shrink))
        .collect()
}

/// Distances shrink with the load, as the times of faults do.
fn composition(section: &ComposeSection, shrink: Shrink) -> Composition {
    let length = |ms: u32| shrink.length(ms.into());
    Composition {
        choose: section.choose.map(|count| count.get() as usize),
        stagger_ms: section.stagger_ms.map(|ms| length(ms.get())),
        jitter_ms: section.jitter_ms.map_or(0, |ms| length(ms.get())),
        rounds: section.rounds.get().into(),
        rest_ms: length(section.rest_ms.get()),
    }
}
