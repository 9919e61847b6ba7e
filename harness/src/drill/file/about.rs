//! The keys of a drill file outside any table.

use deserr::Deserr;

use crate::drill::problems::Problems;

/// The keys outside any table.
#[derive(Debug, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct About {
    /// One sentence: what is broken, what must hold.
    pub title: String,
    /// Ids of the controls that the drill proves.
    pub controls: Vec<String>,
    /// Name of a file in `targets/`, without its ending.
    #[deserr(default = "flashsale".to_owned())]
    pub target: String,
    #[deserr(default)]
    pub seed: Option<u64>,
}
