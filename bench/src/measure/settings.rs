//! How long, how often, how fast.

use serde::Serialize;

use crate::server::Freezes;
use crate::truth::Schedule;

#[derive(Debug, Clone, Copy, Serialize)]
pub struct Settings {
    /// Each cost is measured this often, the tools taking turns, since the machine's mood changes.
    pub repeats: usize,
    pub cost_ms: u64,
    /// A rate that every tool holds.
    pub paced_per_s: u64,
    pub step_ms: u64,
    pub ladder_per_s: &'static [u64],
    pub freezes: Freezes,
    pub truth: Schedule,
}

impl Settings {
    pub const FULL: Self = Self {
        repeats: 3,
        cost_ms: 5_000,
        paced_per_s: 10_000,
        step_ms: 4_000,
        ladder_per_s: &[10_000, 25_000, 50_000, 75_000, 100_000, 150_000, 200_000],
        freezes: Freezes {
            first_ms: 4_000,
            every_ms: 10_000,
            length_ms: 1_000,
        },
        truth: Schedule {
            per_s: 5_000,
            duration_ms: 20_000,
        },
    };

    /// About a minute. Tools that calibrate for longer than its run say nothing of the truth.
    pub const SHORT: Self = Self {
        repeats: 1,
        cost_ms: 1_000,
        step_ms: 1_000,
        ladder_per_s: &[25_000, 50_000, 100_000],
        freezes: Freezes {
            first_ms: 2_000,
            every_ms: 5_000,
            length_ms: 500,
        },
        truth: Schedule {
            per_s: 5_000,
            duration_ms: 5_000,
        },
        ..Self::FULL
    };
}
