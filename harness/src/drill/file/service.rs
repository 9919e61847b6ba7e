//! `[service]`: how the system under test is run.

use deserr::Deserr;

use crate::drill::problems::Problems;
use crate::drill::range::Count;

#[derive(Debug, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct ServiceSection {
    /// Nodes that run side by side, each with links of its own; the load goes round them.
    pub nodes: Count,
}
