//! `[short]`: the drill in less time.

use deserr::Deserr;

use crate::drill::problems::Problems;
use crate::drill::range::Share;

/// How `--short` shrinks the drill: shares of the rate and of the duration of each phase.
#[derive(Debug, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct ShortSection {
    pub rate_share: Share,
    pub duration_share: Share,
}
