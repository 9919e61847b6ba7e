//! Which panels a report has, and their lines.

use super::plot::{Band, Panel, Scale, Series, Stroke, Tint};
use crate::check::Evidence;
use crate::load::summary::Interval;
use crate::observe::Sample;

/// The panels in reading order; those without data are left out.
pub fn panels(evidence: &Evidence) -> Vec<Panel> {
    let all = [
        requests(evidence),
        answers(evidence),
        latency(evidence),
        stock(evidence),
    ];
    all.into_iter().filter(Panel::has_points).collect()
}

/// Where the time axis ends: the last thing seen, seconds.
pub fn until_s(evidence: &Evidence) -> f64 {
    let samples = evidence
        .samples
        .last()
        .map_or(0, |sample| sample.at_ms.max(0));
    let healed = evidence
        .faults
        .iter()
        .filter_map(|fault| fault.healed_at_ms)
        .max()
        .unwrap_or(0);
    let last = evidence
        .load
        .duration_ms
        .max(healed)
        .max(samples.unsigned_abs());
    (last as f64 / 1e3).max(1.0)
}

pub fn bands(evidence: &Evidence) -> Vec<Band> {
    let seconds = |ms: u64| ms as f64 / 1e3;
    let of = |fault: &crate::faults::FaultEvent| Band {
        from_s: seconds(fault.injected_at_ms),
        to_s: match fault.healed_at_ms {
            Some(healed) => Some(seconds(healed)),
            // Never healed: up to the end.
            None => fault.heals.then_some(f64::MAX),
        },
    };
    evidence.faults.iter().map(of).collect()
}

fn requests(evidence: &Evidence) -> Panel {
    Panel {
        title: "Requests per second",
        note: "What the schedule offered, and what the generator sent in time.",
        scale: Scale::Linear,
        series: vec![
            timeline(evidence, ("offered", Tint::Quiet, Stroke::Area), |one| {
                one.offered
            }),
            timeline(evidence, ("sent", Tint::First, Stroke::Line), |one| {
                one.sent
            }),
        ],
    }
}

fn answers(evidence: &Evidence) -> Panel {
    Panel {
        title: "Accepted, outage and unknown answers per second",
        note: "Plain refusals (sold out, at the limit) are left out.",
        scale: Scale::Linear,
        series: vec![
            timeline(evidence, ("accepted", Tint::Third, Stroke::Line), |one| {
                one.accepted
            }),
            timeline(evidence, ("outage", Tint::Second, Stroke::Line), |one| {
                one.outage
            }),
            timeline(evidence, ("unknown", Tint::Quiet, Stroke::Line), |one| {
                one.unknown
            }),
        ],
    }
}

fn latency(evidence: &Evidence) -> Panel {
    Panel {
        title: "Response time",
        note: "From the intended start of a request to its answer, per second of the schedule.",
        scale: Scale::Logarithmic,
        series: vec![
            timeline(evidence, ("p99", Tint::Second, Stroke::Line), |one| {
                one.response_us_p99
            }),
            timeline(evidence, ("median", Tint::First, Stroke::Line), |one| {
                one.response_us_p50
            }),
        ],
    }
}

fn stock(evidence: &Evidence) -> Panel {
    Panel {
        title: "Units left",
        note: "What the store and the cache would still sell. They may differ while orders are on their way.",
        scale: Scale::Linear,
        series: vec![
            sampled(evidence, ("store", Tint::First), |sample| {
                sample.store_available
            }),
            sampled(evidence, ("cache", Tint::Second), |sample| {
                sample.cache_available
            }),
        ],
    }
}

/// Counts of each second that was sent in, placed at its middle.
fn timeline(
    evidence: &Evidence,
    (name, tint, stroke): (&'static str, Tint, Stroke),
    value: impl Fn(&Interval) -> u64,
) -> Series {
    let point = |one: &Interval| (one.at_ms as f64 / 1e3 + 0.5, value(one) as f64);
    let end_s = evidence.load.duration_ms as f64 / 1e3;
    let points = evidence.load.timeline.iter().map(point);
    let piece = points
        .map(|(at, value)| (at.min(end_s.max(0.5)), value))
        .collect();
    Series {
        name,
        tint,
        stroke,
        pieces: vec![piece],
    }
}

/// Readings from the first arrival on; one that failed leaves a gap.
fn sampled(
    evidence: &Evidence,
    (name, tint): (&'static str, Tint),
    value: impl Fn(&Sample) -> Option<i64>,
) -> Series {
    let mut pieces = vec![Vec::new()];
    for sample in evidence.samples.iter().filter(|sample| sample.at_ms >= 0) {
        match (value(sample), pieces.last_mut()) {
            (Some(units), Some(piece)) => piece.push((sample.at_ms as f64 / 1e3, units as f64)),
            (None, Some(piece)) if !piece.is_empty() => pieces.push(Vec::new()),
            _ => {}
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    Series {
        name,
        tint,
        stroke: Stroke::Line,
        pieces,
    }
}
