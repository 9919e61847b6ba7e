//! `[sale]`: what is on sale.

use deserr::Deserr;

use crate::drill::problems::Problems;
use crate::drill::range::Count;

#[derive(Debug, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct SaleSection {
    /// Number of SKUs; they are named `sku-01`, `sku-02`, ...
    pub skus: Count,
    pub units_per_sku: Count,
    #[deserr(default = Count::new(1).expect("1 is in range"))]
    pub limit_per_user: Count,
    /// From the first arrival; 0: before the load.
    #[deserr(default)]
    pub opens_at_ms: u64,
    #[deserr(default)]
    pub top_ups: Vec<TopUpSection>,
}

/// `[[sale.top_ups]]`: units that come while the sale is open, by the target's `[start.top_up]`.
#[derive(Debug, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct TopUpSection {
    /// From the first arrival.
    pub at_ms: u64,
    /// Number of the SKU, from 1.
    pub sku: Count,
    pub units: Count,
}
