//! One phase of the schedule.

use crate::drill::file::{PhaseSection, ShortSection};
use crate::drill::range::Rate;
use crate::load::schedule::Phase;

pub fn duration_ms(phase: &PhaseSection) -> u32 {
    match phase {
        PhaseSection::Constant { duration_ms, .. }
        | PhaseSection::Ramp { duration_ms, .. }
        | PhaseSection::Spike { duration_ms, .. } => duration_ms.get(),
    }
}

pub fn phase(section: &PhaseSection, short: Option<&ShortSection>) -> Phase {
    let rate = |rate: Rate| rate.get() * short.map_or(1.0, |s| s.rate_share.get());
    let time = |ms: u64| match short {
        Some(short) => ((ms as f64 * short.duration_share.get()) as u64).max(1),
        None => ms,
    };
    match section.clone() {
        PhaseSection::Constant {
            name,
            rate_per_s,
            duration_ms,
        } => Phase::Constant {
            name,
            rate_per_s: rate(rate_per_s),
            duration_ms: time(duration_ms.get().into()),
        },
        PhaseSection::Ramp {
            name,
            from_per_s,
            to_per_s,
            duration_ms,
        } => Phase::Ramp {
            name,
            from_per_s: rate(from_per_s),
            to_per_s: rate(to_per_s),
            duration_ms: time(duration_ms.get().into()),
        },
        PhaseSection::Spike {
            name,
            base_per_s,
            peak_per_s,
            peak_at_ms,
            peak_ms,
            duration_ms,
        } => Phase::Spike {
            name,
            base_per_s: rate(base_per_s),
            peak_per_s: rate(peak_per_s),
            peak_at_ms: time(peak_at_ms),
            peak_ms: time(peak_ms.get().into()),
            duration_ms: time(duration_ms.get().into()),
        },
    }
}
