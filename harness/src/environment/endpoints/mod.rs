//! A stack that somebody else runs, as its owner describes it: where its servers are, and what may be done to them.

mod address;
mod database;
mod file;
mod located;
mod silences;

use std::path::PathBuf;

pub use address::HostPort;
pub use database::DatabaseUrl;
pub(crate) use located::Located;
pub(crate) use silences::Silences;

use crate::faults::KindName;

/// An endpoints file that has been read; every address in it is loopback or allowed by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoints {
    /// Where it was read from.
    pub file: PathBuf,
    /// What may be used beyond loopback, by exact name.
    pub hosts: Vec<String>,
    /// Drills empty the stores: Redis as a whole, and MySQL's one database.
    pub may_reset: bool,
    /// The kinds of fault that may be injected.
    pub faults: Vec<KindName>,
    /// Every node of the cluster.
    pub redis: Vec<HostPort>,
    pub mysql: MysqlEndpoints,
    pub name_server: HostPort,
    /// None: where the name server sends clients.
    pub broker: Option<HostPort>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MysqlEndpoints {
    /// For observers, resets and faults.
    pub url: DatabaseUrl,
    /// For the service, which gets it with the address of its link.
    pub service_url: DatabaseUrl,
    /// For a service that tells its nodes' account from its tables' owner.
    pub node_url: DatabaseUrl,
    pub replica_url: Option<DatabaseUrl>,
}
