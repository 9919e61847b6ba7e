//! `[[load.phases]]`: one shape of rate after the other.

use deserr::Deserr;

use crate::drill::problems::Problems;
use crate::drill::range::{Count, Rate};

#[derive(Debug, Clone, Deserr)]
#[deserr(tag = "shape", rename_all = lowercase, deny_unknown_fields, error = Problems)]
pub enum PhaseSection {
    Constant {
        name: String,
        rate_per_s: Rate,
        duration_ms: Count,
    },
    Ramp {
        name: String,
        from_per_s: Rate,
        to_per_s: Rate,
        duration_ms: Count,
    },
    Spike {
        name: String,
        base_per_s: Rate,
        peak_per_s: Rate,
        peak_at_ms: u64,
        peak_ms: Count,
        duration_ms: Count,
    },
}
