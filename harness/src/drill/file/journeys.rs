//! Whole buyers beside the load.

use deserr::Deserr;

use crate::drill::problems::Problems;
use crate::drill::range::{Count, Rate, Share};

#[derive(Debug, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct JourneysSection {
    /// Buyers at the same time.
    pub users: Count,
    /// Buyers that come per second, until all are there.
    #[deserr(default = Rate::new(10.0).expect("10 is a rate"))]
    pub hatch_per_s: Rate,
    /// Pause of a buyer between two steps, and between two journeys.
    #[deserr(default = Count::new(200).expect("200 is in range"))]
    pub think_ms: Count,
    /// Buyers with an order who pay, and who cancel; the others leave it.
    #[deserr(default = Share::new(0.0).expect("0 is a share"))]
    pub pay_share: Share,
    #[deserr(default = Share::new(0.0).expect("0 is a share"))]
    pub cancel_share: Share,
    #[deserr(default = Count::new(200).expect("200 is in range"))]
    pub poll_every_ms: Count,
    /// Polls after which a buyer gives up.
    #[deserr(default = Count::new(20).expect("20 is in range"))]
    pub poll_max: Count,
    /// When the first buyer comes, from the first arrival.
    #[deserr(default = 0)]
    pub starts_at_ms: u64,
}
