//! `[[faults]]`: what breaks when.

use deserr::Deserr;

use crate::drill::problems::Problems;
use crate::drill::range::Count;

#[derive(Debug, Clone, Deserr)]
#[deserr(tag = "kind", deny_unknown_fields, error = Problems)]
pub enum FaultSection {
    #[deserr(rename = "redis_primary_kill")]
    RedisPrimaryKill {
        at_ms: u64,
        /// Number of the SKU whose primary dies, from 1.
        sku: Count,
        #[deserr(default = 500)]
        cut_replication_ms: u64,
        restart_after_ms: Count,
    },
    #[deserr(rename = "broker_kill")]
    BrokerKill {
        at_ms: u64,
        #[deserr(default = 0)]
        cut_requests_ms: u64,
        restart_after_ms: Count,
    },
    #[deserr(rename = "cache_stock_raise")]
    CacheStockRaise {
        at_ms: u64,
        sku: Count,
        units: Count,
    },
}
