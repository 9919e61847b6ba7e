//! The kinds of fault, one file each. A new kind is a file here and a line in the list below.

mod broker_commit_lost;
mod broker_duplicate_delivery;
mod broker_kill;
mod cache_stock_raise;
mod link_bandwidth;
mod link_black_hole;
mod link_down;
mod link_half_open;
mod link_latency;
mod link_limit_data;
mod link_reset;
mod link_slicing;
mod link_slow_close;
mod link_stall;
mod link_unreachable;
mod mysql_commit_kill;
mod mysql_commit_reply_lost;
mod mysql_connection_limit;
mod mysql_deadlock;
mod mysql_disk_slow;
mod mysql_lock_holder;
mod mysql_poison;
mod mysql_read_only;
mod mysql_replica_lag;
mod mysql_stock_tamper;
mod redis_failover;
mod redis_key_loss;
mod redis_memory_limit;
mod redis_partition;
mod redis_primary_kill;
mod redis_replication_cut;
mod redis_reply_lost;
mod redis_slot_migration;
mod server_disk_full;
mod server_kill;
mod server_pause;
mod server_restart;
mod service_clock_jump;
mod service_crash;

use deserr::errors::helpers::did_you_mean;
use deserr::{Deserr, ErrorKind, IntoValue, Value, ValuePointerRef};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use broker_commit_lost::BrokerCommitLost;
pub use broker_duplicate_delivery::BrokerDuplicateDelivery;
pub use broker_kill::BrokerKill;
pub use cache_stock_raise::CacheStockRaise;
pub use link_bandwidth::LinkBandwidth;
pub use link_black_hole::LinkBlackHole;
pub use link_down::LinkDown;
pub use link_half_open::{LinkHalfOpen, Lost};
pub use link_latency::LinkLatency;
pub use link_limit_data::LinkLimitData;
pub use link_reset::LinkReset;
pub use link_slicing::LinkSlicing;
pub use link_slow_close::LinkSlowClose;
pub use link_stall::LinkStall;
pub use link_unreachable::LinkUnreachable;
pub use mysql_commit_kill::MysqlCommitKill;
pub use mysql_commit_reply_lost::MysqlCommitReplyLost;
pub use mysql_connection_limit::MysqlConnectionLimit;
pub use mysql_deadlock::MysqlDeadlock;
pub use mysql_disk_slow::MysqlDiskSlow;
pub use mysql_lock_holder::MysqlLockHolder;
pub use mysql_poison::MysqlPoison;
pub use mysql_read_only::MysqlReadOnly;
pub use mysql_replica_lag::MysqlReplicaLag;
pub use mysql_stock_tamper::MysqlStockTamper;
pub use redis_failover::RedisFailover;
pub use redis_key_loss::{LostKey, RedisKeyLoss};
pub use redis_memory_limit::RedisMemoryLimit;
pub use redis_partition::RedisPartition;
pub use redis_primary_kill::RedisPrimaryKill;
pub use redis_replication_cut::RedisReplicationCut;
pub use redis_reply_lost::RedisReplyLost;
pub use redis_slot_migration::RedisSlotMigration;
pub use server_disk_full::ServerDiskFull;
pub use server_kill::ServerKill;
pub use server_pause::ServerPause;
pub use server_restart::ServerRestart;
pub use service_clock_jump::ServiceClockJump;
pub use service_crash::ServiceCrash;

use super::kind::{Described, Key, Kind, Need};
use super::runner::{Timeline, drive};
use super::site::Site;
use super::{FaultEvent, Links, PlannedFault};
use crate::drill::problems::Problems;

/// What is known of a kind without injecting it.
#[derive(Debug, Clone, Copy)]
pub struct About {
    pub kind: &'static str,
    pub summary: &'static str,
    pub keys: &'static [Key],
    /// False: a change of state that takes no `for_ms`.
    pub heals: bool,
    pub needs: &'static [Need],
}

impl About {
    const fn of<K: Kind>(kind: &'static str) -> Self {
        Self {
            kind,
            summary: <K as Described>::SUMMARY,
            keys: <K as Described>::KEYS,
            heals: K::HEALS,
            needs: K::NEEDS,
        }
    }
}

/// Declares the enum of all kinds and what must be done kind by kind.
macro_rules! kinds {
    ($($name:literal => $kind:ident),+ $(,)?) => {
        /// A fault: its kind and the values of its keys.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind")]
        pub enum Fault {
            $(#[serde(rename = $name)] $kind($kind)),+
        }

        impl Fault {
            /// All kinds there are, by name.
            pub const KINDS: &'static [About] = &[$(About::of::<$kind>($name)),+];

            pub fn about(&self) -> &'static About {
                let name = match self { $(Self::$kind(_) => $name),+ };
                let about = Self::KINDS.iter().find(|about| about.kind == name);
                about.expect("every kind is in the list")
            }

            /// Reads the keys of the kind called `name`.
            ///
            /// # Errors
            /// Every mistake in them, or the kinds there are.
            pub(crate) fn read<V: IntoValue>(
                name: &str,
                keys: Value<V>,
                location: ValuePointerRef<'_>,
            ) -> Result<Self, Problems> {
                match name {
                    $($name => $kind::deserialize_from_value(keys, location).map(Self::$kind),)+
                    _ => Err(unknown(name, location)),
                }
            }
        }

        /// Takes a planned fault through its steps.
        pub(super) async fn run_one(
            planned: &PlannedFault,
            site: Site<'_>,
            timeline: Timeline<'_>,
        ) -> FaultEvent {
            match &planned.fault {
                // Boxed: the steps of all kinds side by side would make one huge future.
                $(Fault::$kind(kind) => Box::pin(drive(kind, planned, site, timeline)).await),+
            }
        }
    };
}

kinds! {
    "broker_commit_lost" => BrokerCommitLost,
    "broker_duplicate_delivery" => BrokerDuplicateDelivery,
    "broker_kill" => BrokerKill,
    "cache_stock_raise" => CacheStockRaise,
    "link_bandwidth" => LinkBandwidth,
    "link_black_hole" => LinkBlackHole,
    "link_down" => LinkDown,
    "link_half_open" => LinkHalfOpen,
    "link_latency" => LinkLatency,
    "link_limit_data" => LinkLimitData,
    "link_reset" => LinkReset,
    "link_slicing" => LinkSlicing,
    "link_slow_close" => LinkSlowClose,
    "link_stall" => LinkStall,
    "link_unreachable" => LinkUnreachable,
    "mysql_commit_kill" => MysqlCommitKill,
    "mysql_commit_reply_lost" => MysqlCommitReplyLost,
    "mysql_connection_limit" => MysqlConnectionLimit,
    "mysql_deadlock" => MysqlDeadlock,
    "mysql_disk_slow" => MysqlDiskSlow,
    "mysql_lock_holder" => MysqlLockHolder,
    "mysql_poison" => MysqlPoison,
    "mysql_read_only" => MysqlReadOnly,
    "mysql_replica_lag" => MysqlReplicaLag,
    "mysql_stock_tamper" => MysqlStockTamper,
    "redis_failover" => RedisFailover,
    "redis_key_loss" => RedisKeyLoss,
    "redis_memory_limit" => RedisMemoryLimit,
    "redis_partition" => RedisPartition,
    "redis_primary_kill" => RedisPrimaryKill,
    "redis_replication_cut" => RedisReplicationCut,
    "redis_reply_lost" => RedisReplyLost,
    "redis_slot_migration" => RedisSlotMigration,
    "server_disk_full" => ServerDiskFull,
    "server_kill" => ServerKill,
    "server_pause" => ServerPause,
    "server_restart" => ServerRestart,
    "service_clock_jump" => ServiceClockJump,
    "service_crash" => ServiceCrash,
}

impl Fault {
    /// Name in drill files and reports.
    pub fn kind(&self) -> &'static str {
        self.about().kind
    }

    /// The links that it is about, if its kind names any.
    pub fn links(&self) -> Option<Links> {
        self.key("links")
    }

    /// The server that it is about, by its role or name, if its kind names one.
    pub fn server(&self) -> Option<String> {
        self.key("server")
    }

    /// Number of the SKU that it is about, if its kind has one.
    pub fn sku(&self) -> Option<u32> {
        self.key("sku")
    }

    /// The value of a key. Every kind writes one of the same name in the same way.
    fn key<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let mut keys = serde_json::to_value(self).ok()?;
        serde_json::from_value(keys.get_mut(name)?.take()).ok()
    }
}

fn unknown(name: &str, location: ValuePointerRef<'_>) -> Problems {
    let msg = no_kind(name);
    let location = ValuePointerRef::Key {
        key: "kind",
        prev: &location,
    };
    Problems::one::<std::convert::Infallible>(ErrorKind::Unexpected { msg }, location)
}

/// What is said of a name that no kind has.
pub(super) fn no_kind(name: &str) -> String {
    let kinds: Vec<&str> = Fault::KINDS.iter().map(|about| about.kind).collect();
    let hint = did_you_mean(name, &kinds);
    format!("unknown kind `{name}`; {hint}one of {}", kinds.join(", "))
}
