//! `[service]`: how the system under test is run.

use std::collections::BTreeMap;

use deserr::Deserr;

use crate::drill::problems::Problems;
use crate::drill::range::Count;

/// `nodes` or `roles` says how many there are; without both: one.
#[derive(Debug, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct ServiceSection {
    /// Nodes that run side by side, each with links of its own; the load goes round them.
    #[deserr(default)]
    pub nodes: Option<Count>,
    /// What each node does, by the names of the target's `start.roles`.
    #[deserr(default)]
    pub roles: Option<Vec<String>>,
    /// Variables of its environment, on top of the target's `start.env`; templates like those.
    #[deserr(default)]
    pub env: BTreeMap<String, String>,
    /// The target's `start.variants` under which the drill must hold too; `flashdrill prove` runs it under each.
    #[deserr(default)]
    pub variants: Vec<String>,
}
