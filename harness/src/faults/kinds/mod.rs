//! The kinds of fault, one file each. A new kind is a file here and a line in the list below.

mod broker_kill;
mod cache_stock_raise;
mod mysql_connection_limit;
mod mysql_disk_slow;
mod mysql_lock_holder;
mod mysql_read_only;
mod mysql_replica_lag;
mod name_server_kill;
mod redis_disk_full;
mod redis_primary_kill;

use deserr::errors::helpers::did_you_mean;
use deserr::{Deserr, ErrorKind, IntoValue, Value, ValuePointerRef};
use serde::{Deserialize, Serialize};

pub use broker_kill::BrokerKill;
pub use cache_stock_raise::CacheStockRaise;
pub use mysql_connection_limit::MysqlConnectionLimit;
pub use mysql_disk_slow::MysqlDiskSlow;
pub use mysql_lock_holder::MysqlLockHolder;
pub use mysql_read_only::MysqlReadOnly;
pub use mysql_replica_lag::MysqlReplicaLag;
pub use name_server_kill::NameServerKill;
pub use redis_disk_full::RedisDiskFull;
pub use redis_primary_kill::RedisPrimaryKill;

use super::kind::{Described, Key, Kind, Need};
use super::runner::{Timeline, drive};
use super::site::Site;
use super::{FaultEvent, PlannedFault};
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
    "broker_kill" => BrokerKill,
    "cache_stock_raise" => CacheStockRaise,
    "mysql_connection_limit" => MysqlConnectionLimit,
    "mysql_disk_slow" => MysqlDiskSlow,
    "mysql_lock_holder" => MysqlLockHolder,
    "mysql_read_only" => MysqlReadOnly,
    "mysql_replica_lag" => MysqlReplicaLag,
    "name_server_kill" => NameServerKill,
    "redis_disk_full" => RedisDiskFull,
    "redis_primary_kill" => RedisPrimaryKill,
}

impl Fault {
    /// Name in drill files and reports.
    pub fn kind(&self) -> &'static str {
        self.about().kind
    }
}

fn unknown(name: &str, location: ValuePointerRef<'_>) -> Problems {
    let kinds: Vec<&str> = Fault::KINDS.iter().map(|about| about.kind).collect();
    let hint = did_you_mean(name, &kinds);
    let msg = format!("unknown kind `{name}`; {hint}one of {}", kinds.join(", "));
    let location = ValuePointerRef::Key {
        key: "kind",
        prev: &location,
    };
    Problems::one::<std::convert::Infallible>(ErrorKind::Unexpected { msg }, location)
}
