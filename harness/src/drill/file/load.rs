//! `[load]`: how requests are offered.

use deserr::Deserr;

use super::shape::{OnTopSection, PhaseSection};
use crate::drill::problems::Problems;
use crate::drill::range::Count;

#[derive(Debug, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct LoadSection {
    pub phases: Vec<PhaseSection>,
    #[deserr(default)]
    pub on_top: Vec<OnTopSection>,
    #[deserr(default)]
    pub arrivals: ArrivalsSection,
    pub connections: Count,
    #[deserr(default = Count::new(1).expect("1 is in range"))]
    pub depth: Count,
    #[deserr(default = Count::new(10_000).expect("10000 is in range"))]
    pub timeout_ms: Count,
}

/// How arrivals fall where the rate is known.
#[derive(Debug, Clone, Copy, Default, Deserr)]
#[deserr(rename_all = lowercase, error = Problems)]
pub enum ArrivalsSection {
    #[default]
    Even,
    Poisson,
}
