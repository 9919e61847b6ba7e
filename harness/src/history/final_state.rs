//! What the stores hold, read from the authorities: at the start (must be empty) and at rest.

use std::collections::BTreeMap;

use deserr::Deserr;
use serde::{Deserialize, Serialize};

use crate::drill::problems::Problems;

/// Where an order stands, whatever the target calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Deserr)]
#[serde(rename_all = "snake_case")]
#[deserr(rename_all = lowercase, error = Problems)]
pub enum OrderState {
    /// Stock is sold to it, payment open.
    Created,
    Paid,
    Cancelled,
    Expired,
    /// Accepted once, refused later; the buyer can see it.
    Rejected,
}

impl OrderState {
    pub fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Paid => "paid",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
            Self::Rejected => "rejected",
        }
    }

    /// The order holds stock.
    pub fn is_live(self) -> bool {
        matches!(self, Self::Created | Self::Paid)
    }
}

/// One order of the durable store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderRow {
    pub order_id: String,
    pub request_id: String,
    pub user: String,
    pub sku: String,
    pub quantity: u32,
    pub state: OrderState,
    /// Why it was rejected or cancelled; empty otherwise.
    pub reason: String,
}

/// Stock of one SKU in the durable store. Signed: a broken service may go below zero.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StockRow {
    pub sku: String,
    pub total: i64,
    pub available: i64,
}

/// Stock of one SKU in the cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheRow {
    pub sku: String,
    /// None: the key is missing.
    pub available: Option<i64>,
    /// Units held per user.
    pub held: BTreeMap<String, i64>,
}

/// One reading of all stores.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StoreState {
    pub orders: Vec<OrderRow>,
    pub stock: Vec<StockRow>,
    /// Ids of orders whose message nobody has received.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undelivered: Vec<String>,
    pub cache: Vec<CacheRow>,
    /// Messages committed and not yet consumed; None: could not be read.
    pub queue_backlog: Option<u64>,
    /// Counters of the service, by the target's names.
    pub counters: BTreeMap<String, f64>,
    /// What could not be read, with the reason. Not empty: the reading is incomplete.
    pub unread: Vec<String>,
}

/// The stores before the first request and at rest after the last.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FinalState {
    pub start: StoreState,
    pub end: StoreState,
    /// From the later of (load ended, last fault healed) to the first of several equal readings in
    /// which the stores agreed and the backlog was empty; None: they never did.
    pub converged_ms: Option<u64>,
}
