//! `[compose]`: the faults put together by the seed.

use deserr::Deserr;

use crate::drill::problems::Problems;
use crate::drill::range::Count;

/// Which of the faults take place and when; without it, all of them as written.
#[derive(Debug, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct ComposeSection {
    /// How many of the faults take place, drawn by the seed.
    #[deserr(default)]
    pub choose: Option<Count>,
    /// Injected so far apart from the earliest `at_ms` on, in a drawn order; once all are on, the longest `for_ms`
    /// passes, and they are healed as far apart, in another drawn order ("swizzle").
    #[deserr(default)]
    pub stagger_ms: Option<Count>,
    /// Each injection is up to so much later.
    #[deserr(default)]
    pub jitter_ms: Option<Count>,
    /// How often all this happens, drawn anew each time.
    #[deserr(default = Count::new(1).expect("1 is in range"))]
    pub rounds: Count,
    /// From the last heal of a round to the next round.
    #[deserr(default = Count::new(1_000).expect("1000 is in range"))]
    pub rest_ms: Count,
}
