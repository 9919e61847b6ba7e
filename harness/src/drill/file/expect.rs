//! `[expect]` and `[[mutants]]`: what must hold, and what must be caught.

use std::collections::BTreeMap;

use deserr::Deserr;

use crate::check::CheckId;
use crate::drill::problems::Problems;
use crate::drill::range::{Count, Share};

#[derive(Debug, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct ExpectSection {
    pub checks: Vec<CheckId>,
    #[deserr(default = Share::new(0.99).expect("0.99 is a share"))]
    pub sent_share_min: Share,
    #[deserr(default = Count::new(250_000).expect("250000 is in range"))]
    pub schedule_lag_us_p99_max: Count,
    /// For phases by name, instead.
    #[deserr(default)]
    pub phase_lag_us_p99_max: BTreeMap<String, Count>,
    #[deserr(default = Count::new(30_000).expect("30000 is in range"))]
    pub converge_ms_max: Count,
    #[deserr(default = Count::new(30_000).expect("30000 is in range"))]
    pub recover_ms_max: Count,
    #[deserr(default = true)]
    pub sell_out: bool,
}

#[derive(Debug, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct MutantSection {
    pub name: String,
    pub check: CheckId,
}
