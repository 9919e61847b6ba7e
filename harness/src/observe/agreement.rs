//! Do store and cache tell the same story? Pure: one reading in, the differences out.

use std::collections::BTreeMap;

use crate::drill::plan::Plan;
use crate::history::final_state::{CacheRow, OrderRow, StockRow, StoreState};

/// What kind of disagreement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DifferenceKind {
    StockRowMissing,
    LedgerBreak,
    CacheRowMissing,
    /// The cache would sell fewer units than are left.
    Stranded,
    /// The cache would sell more units than are left.
    Surplus,
    /// The cache does not know that a buyer holds units.
    HoldMissing,
    /// The cache holds units for a buyer who has no such order.
    HoldStranded,
    /// Nobody has received the order's message.
    Undelivered,
}

impl DifferenceKind {
    /// Singular, for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::StockRowMissing => "stock row missing in the store",
            Self::LedgerBreak => "ledger break in the store",
            Self::CacheRowMissing => "SKU missing in the cache",
            Self::Stranded => "SKU with stranded units (cache below store)",
            Self::Surplus => "SKU with surplus units (cache above store)",
            Self::HoldMissing => "buyer whose units the cache forgot",
            Self::HoldStranded => "buyer with units held in the cache only",
            Self::Undelivered => "order whose message nobody received",
        }
    }
}

/// One disagreement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub kind: DifferenceKind,
    /// The SKU or buyer it is about.
    pub subject: String,
    pub what: String,
}

/// All disagreements of one complete reading, SKU by SKU. A missing cache key counts as no stock, as the
/// sale would take it.
pub fn differences(plan: &Plan, state: &StoreState) -> Vec<Difference> {
    let mut out = Vec::new();
    let has_cache = plan.target.state.has_cache();
    for sku in &plan.sale.skus {
        let live = live_by_user(&state.orders, &sku.id);
        let Some(stock) = state.stock.iter().find(|row| row.sku == sku.id) else {
            let what = "the store has no stock row for it".to_owned();
            out.push(of_sku(DifferenceKind::StockRowMissing, &sku.id, what));
            continue;
        };
        out.extend(ledger_break(stock, live.values().sum()));
        if !has_cache {
            continue;
        }
        match state.cache.iter().find(|row| row.sku == sku.id) {
            None => {
                let what = "the cache was not asked for it".to_owned();
                out.push(of_sku(DifferenceKind::CacheRowMissing, &sku.id, what));
            }
            Some(cache) => {
                out.extend(stock_difference(stock, cache));
                out.extend(hold_differences(&live, cache, plan));
            }
        }
    }
    out.extend(state.undelivered.iter().map(|id| Difference {
        kind: DifferenceKind::Undelivered,
        subject: format!("order {id}"),
        what: "the store has it, and its message has not been received".to_owned(),
    }));
    out
}

fn live_by_user<'s>(orders: &'s [OrderRow], sku: &str) -> BTreeMap<&'s str, i64> {
    let mut out: BTreeMap<&str, i64> = BTreeMap::new();
    for row in orders
        .iter()
        .filter(|row| row.sku == sku && row.state.is_live())
    {
        *out.entry(&row.user).or_default() += i64::from(row.quantity);
    }
    out
}

fn ledger_break(stock: &StockRow, live: i64) -> Option<Difference> {
    let StockRow {
        sku,
        total,
        available,
    } = stock;
    (available + live != *total).then(|| {
        let what = format!("available {available} and live {live} do not make total {total}");
        of_sku(DifferenceKind::LedgerBreak, sku, what)
    })
}

fn stock_difference(stock: &StockRow, cache: &CacheRow) -> Option<Difference> {
    let cached = cache.available.unwrap_or(0);
    let shown = cache
        .available
        .map_or("no stock key".to_owned(), |units| format!("{units} units"));
    let what = format!(
        "the cache has {shown}, the store {} available",
        stock.available
    );
    let kind = match cached.cmp(&stock.available) {
        std::cmp::Ordering::Equal => return None,
        std::cmp::Ordering::Less => DifferenceKind::Stranded,
        std::cmp::Ordering::Greater => DifferenceKind::Surplus,
    };
    Some(of_sku(kind, &stock.sku, what))
}

/// Buyers whose units differ; only where the target can tell who holds what.
fn hold_differences(live: &BTreeMap<&str, i64>, cache: &CacheRow, plan: &Plan) -> Vec<Difference> {
    if plan.target.state.cache_held.is_empty() {
        return Vec::new();
    }
    let mut users: Vec<&str> = live.keys().copied().collect();
    users.extend(cache.held.keys().map(String::as_str));
    users.sort_unstable();
    users.dedup();
    let both = users.into_iter().map(|user| {
        let stored = live.get(user).copied().unwrap_or(0);
        (user, stored, cache.held.get(user).copied().unwrap_or(0))
    });
    both.filter(|(_, stored, held)| stored != held)
        .map(|(user, stored, held)| {
            let kind = if held < stored {
                DifferenceKind::HoldMissing
            } else {
                DifferenceKind::HoldStranded
            };
            let sku = &cache.sku;
            let what = format!("the cache holds {held} of {sku} for {user}, the store {stored}");
            Difference {
                kind,
                subject: format!("buyer {user}"),
                what,
            }
        })
        .collect()
}

fn of_sku(kind: DifferenceKind, sku: &str, what: String) -> Difference {
    Difference {
        kind,
        subject: format!("SKU {sku}"),
        what,
    }
}
