//! How requests are offered.

use super::shape::{check_shape, shape, shape_ms};
use super::short::Shrink;
use super::trace::Traces;
use crate::drill::file::{ArrivalsSection, LoadSection, ShapeSection};
use crate::drill::plan::Load;
use crate::drill::problems::Problems;
use crate::load::schedule::{ArrivalProcess, OnTop, Phase, Schedule};

/// A day: keeps every sum of times and rates within its integer.
const LOAD_MS_MAX: u64 = 86_400_000;
/// Poisson arrivals take a byte for each eight.
const REQUESTS_MAX: u64 = 1_000_000_000;

pub fn check(section: &LoadSection, traces: &Traces, problems: &mut Problems) {
    if section.phases.is_empty() {
        problems.push("load.phases", "empty; at least one phase is needed");
        return;
    }
    for (path, shape) in shapes(section) {
        check_shape(&path, shape, problems);
    }
    let Some(end_ms) = end_ms(section, traces) else {
        return;
    };
    let before = problems.0.len();
    if end_ms > LOAD_MS_MAX {
        let message = format!("together {end_ms} ms long; at most {LOAD_MS_MAX}, a day");
        problems.push("load.phases", message);
    }
    check_on_top(section, traces, end_ms, problems);
    if problems.0.len() == before {
        check_count(section, traces, problems);
    }
}

fn check_count(section: &LoadSection, traces: &Traces, problems: &mut Problems) {
    let schedule = load(section, traces, Shrink::not_at_all()).schedule;
    let message = match schedule.count() {
        0 => "the schedule holds no request".to_owned(),
        1..=REQUESTS_MAX => return,
        count => format!("the schedule holds {count} requests; at most {REQUESTS_MAX}"),
    };
    problems.push("load", message);
}

/// What is on top must not outlast the phases: its arrivals would belong to none of them.
fn check_on_top(section: &LoadSection, traces: &Traces, end_ms: u64, problems: &mut Problems) {
    for (index, one) in section.on_top.iter().enumerate() {
        let Some(length_ms) = shape_ms(&one.shape, traces) else {
            continue;
        };
        let ends_ms = one.at_ms.saturating_add(length_ms);
        let message = if one.at_ms >= end_ms {
            format!("{} is after the phases' end at {end_ms} ms", one.at_ms)
        } else if ends_ms > end_ms {
            format!("ends at {ends_ms} ms, after the phases' end at {end_ms} ms")
        } else {
            continue;
        };
        problems.push(format!("load.on_top[{index}].at_ms"), message);
    }
}

/// Every shape of the load with its key path.
pub fn shapes(section: &LoadSection) -> impl Iterator<Item = (String, &ShapeSection)> {
    let phases = section.phases.iter().map(|one| &one.shape).enumerate();
    let on_top = section.on_top.iter().map(|one| &one.shape).enumerate();
    let phases = phases.map(|(at, shape)| (format!("load.phases[{at}]"), shape));
    phases.chain(on_top.map(|(at, shape)| (format!("load.on_top[{at}]"), shape)))
}

/// When the last phase ends; None: a trace could not be read.
pub fn end_ms(section: &LoadSection, traces: &Traces) -> Option<u64> {
    let each = section
        .phases
        .iter()
        .map(|one| shape_ms(&one.shape, traces));
    each.sum()
}

pub fn load(section: &LoadSection, traces: &Traces, shrink: Shrink) -> Load {
    let phases = section.phases.iter().map(|one| Phase {
        name: one.name.clone(),
        shape: shape(&one.shape, traces, shrink),
    });
    let on_top = section.on_top.iter().map(|one| OnTop {
        at_ms: shrink.at(one.at_ms),
        shape: shape(&one.shape, traces, shrink),
    });
    Load {
        schedule: Schedule {
            phases: phases.collect(),
            on_top: on_top.collect(),
            arrivals: match section.arrivals {
                ArrivalsSection::Even => ArrivalProcess::Even,
                ArrivalsSection::Poisson => ArrivalProcess::Poisson,
            },
        },
        connections: section.connections.get(),
        depth: section.depth.get(),
        timeout_ms: section.timeout_ms.get().into(),
        fitted: None,
    }
}
