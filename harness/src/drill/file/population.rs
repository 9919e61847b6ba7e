//! `[population]`: who buys, and how.

use deserr::Deserr;

use crate::drill::problems::Problems;
use crate::drill::range::{Count, Share};

#[derive(Debug, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct PopulationSection {
    pub users: Count,
    #[deserr(default = Count::new(1).expect("1 is in range"))]
    pub quantity: Count,
    #[deserr(default = Share::new(0.0).expect("0 is a share"))]
    pub duplicate_share: Share,
    #[deserr(default = Share::new(0.0).expect("0 is a share"))]
    pub pay_share: Share,
    #[deserr(default = Share::new(0.0).expect("0 is a share"))]
    pub cancel_share: Share,
    #[deserr(default = Share::new(0.0).expect("0 is a share"))]
    pub status_share: Share,
    #[deserr(default = Count::new(1_000).expect("1000 is in range"))]
    pub follow_up_after_ms: Count,
}
