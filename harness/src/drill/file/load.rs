//! `[load]`: how requests are offered.

use deserr::Deserr;

use super::phase::PhaseSection;
use crate::drill::problems::Problems;
use crate::drill::range::Count;

#[derive(Debug, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct LoadSection {
    pub phases: Vec<PhaseSection>,
    pub connections: Count,
    #[deserr(default = Count::new(1).expect("1 is in range"))]
    pub depth: Count,
    #[deserr(default = Count::new(10_000).expect("10000 is in range"))]
    pub timeout_ms: Count,
}
