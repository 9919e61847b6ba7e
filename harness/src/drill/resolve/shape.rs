//! One shape of the schedule.

use super::short::Shrink;
use super::trace::Traces;
use crate::drill::file::ShapeSection;
use crate::drill::problems::Problems;
use crate::drill::range::Count;
use crate::load::schedule::Shape;

/// Parts of a shape that do not fit into its duration.
pub fn check_shape(path: &str, section: &ShapeSection, problems: &mut Problems) {
    let (key, end_ms, duration_ms) = match section {
        ShapeSection::Spike {
            peak_at_ms,
            peak_ms,
            duration_ms,
            ..
        } => (
            "peak_at_ms",
            peak_at_ms.saturating_add(ms(*peak_ms)),
            duration_ms,
        ),
        ShapeSection::Cliff {
            before_ms,
            fall_ms,
            duration_ms,
            ..
        } => (
            "before_ms",
            before_ms.saturating_add(ms(*fall_ms)),
            duration_ms,
        ),
        ShapeSection::Constant { .. }
        | ShapeSection::Ramp { .. }
        | ShapeSection::Steps { .. }
        | ShapeSection::Trace { .. } => return,
    };
    let duration_ms = ms(*duration_ms);
    if end_ms > duration_ms {
        let what = match section {
            ShapeSection::Cliff { .. } => "fall",
            _ => "peak",
        };
        let message = format!("the {what} would end at {end_ms} ms; duration_ms is {duration_ms}");
        problems.push(format!("{path}.{key}"), message);
    }
}

/// Length of a shape in full; None: its trace could not be read.
pub fn shape_ms(section: &ShapeSection, traces: &Traces) -> Option<u64> {
    match section {
        ShapeSection::Constant { duration_ms, .. }
        | ShapeSection::Ramp { duration_ms, .. }
        | ShapeSection::Steps { duration_ms, .. }
        | ShapeSection::Spike { duration_ms, .. }
        | ShapeSection::Cliff { duration_ms, .. } => Some(ms(*duration_ms)),
        ShapeSection::Trace { file, .. } => traces.length_ms(file),
    }
}

fn ms(count: Count) -> u64 {
    count.get().into()
}

pub fn shape(section: &ShapeSection, traces: &Traces, shrink: Shrink) -> Shape {
    let length = |count| shrink.length(ms(count));
    let rate = |rate| shrink.rate(rate);
    match *section {
        ShapeSection::Constant {
            rate_per_s,
            duration_ms,
        } => Shape::Constant {
            rate_per_s: rate(rate_per_s),
            duration_ms: length(duration_ms),
        },
        ShapeSection::Ramp {
            from_per_s,
            to_per_s,
            duration_ms,
        } => Shape::Ramp {
            from_per_s: rate(from_per_s),
            to_per_s: rate(to_per_s),
            duration_ms: length(duration_ms),
        },
        ShapeSection::Steps {
            from_per_s,
            to_per_s,
            steps,
            duration_ms,
        } => Shape::Steps {
            from_per_s: rate(from_per_s),
            to_per_s: rate(to_per_s),
            steps: steps.get(),
            duration_ms: length(duration_ms),
        },
        ShapeSection::Spike {
            base_per_s,
            peak_per_s,
            peak_at_ms,
            peak_ms,
            duration_ms,
        } => Shape::Spike {
            base_per_s: rate(base_per_s),
            peak_per_s: rate(peak_per_s),
            peak_at_ms: shrink.at(peak_at_ms),
            peak_ms: length(peak_ms),
            duration_ms: length(duration_ms),
        },
        ShapeSection::Cliff {
            before_per_s,
            before_ms,
            peak_per_s,
            fall_ms,
            after_per_s,
            duration_ms,
        } => Shape::Cliff {
            before_per_s: rate(before_per_s),
            before_ms: shrink.at(before_ms),
            peak_per_s: rate(peak_per_s),
            fall_ms: length(fall_ms),
            after_per_s: rate(after_per_s),
            duration_ms: length(duration_ms),
        },
        ShapeSection::Trace {
            ref file,
            rate_share,
        } => Shape::Trace {
            file: file.clone(),
            points: traces.points(file, rate_share.get(), shrink),
        },
    }
}
