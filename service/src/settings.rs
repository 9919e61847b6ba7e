//! Settings of the service: command line flags, each with an environment variable.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::time::Duration;

use clap::{Parser, ValueEnum};

use crate::queue::QueuePath;
use crate::queue::bundle::BUNDLE_MAX;
use crate::store::{BATCH_MAX, SHARDS_MAX, Shards, StockStrategy, StockTables};

/// Sells limited stock without overselling: Redis reserves, RocketMQ carries, MySQL decides.
#[derive(Debug, Clone, Parser)]
#[command(version)]
pub struct Settings {
    /// What this node does; any number of each role may run, and one keeper leads.
    #[arg(long, env = "FLASHSALE_ROLE", value_enum, default_value = "all")]
    pub role: Role,
    /// Address of the HTTP interface.
    #[arg(long, env = "FLASHSALE_LISTEN", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,
    /// `mysql://user:password@host:port/database`
    #[arg(long, env = "FLASHSALE_MYSQL_URL", hide_env_values = true)]
    pub mysql_url: String,
    /// The same of the account that owns the tables: creates and upgrades them, and gives the one above what a node needs
    /// and no more. Without it, or where it is the same, that one needs all rights on the database.
    #[arg(long, env = "FLASHSALE_MYSQL_OWNER_URL", hide_env_values = true)]
    pub mysql_owner_url: Option<String>,
    /// The same of a replica, which is asked what may be some seconds old. Without it, or while it is 5 s behind, the
    /// primary is.
    #[arg(long, env = "FLASHSALE_MYSQL_REPLICA_URL", hide_env_values = true)]
    pub mysql_replica_url: Option<String>,
    /// Any nodes of the Redis Cluster: `host:port,host:port`.
    #[arg(
        long,
        env = "FLASHSALE_REDIS_SEEDS",
        value_delimiter = ',',
        required = true
    )]
    pub redis_seeds: Vec<NodeAddress>,
    /// Where to reach a node that announces an address this machine must not dial:
    /// `announced=mapped,announced=mapped`. Other nodes are dialled as announced.
    #[arg(long, env = "FLASHSALE_REDIS_ADDRESS_MAP", default_value = "")]
    pub redis_address_map: AddressMap,
    /// RocketMQ name server, `host:port`.
    #[arg(long, env = "FLASHSALE_ROCKETMQ_NAMESRV")]
    pub rocketmq_namesrv: String,
    #[arg(long, env = "FLASHSALE_TOPIC", default_value = "flashsale-orders")]
    pub topic: String,
    /// Consumer group; the producer group is derived from it.
    #[arg(long, env = "FLASHSALE_GROUP", default_value = "flashsale")]
    pub group: String,
    /// How the orders of a sale get to MySQL that names no way.
    #[arg(long, env = "FLASHSALE_QUEUE", value_enum, default_value = "rocketmq")]
    pub queue: QueuePath,
    /// Pause of the outbox's relay after a look that found little, ms.
    #[arg(long, env = "FLASHSALE_RELAY_POLL_MS", default_value_t = 50)]
    pub relay_poll_ms: u64,
    /// Time between two automatic replays of dead letters, s.
    #[arg(long, env = "FLASHSALE_DEAD_LETTER_RETRY_S", default_value_t = 60)]
    pub dead_letter_retry_s: u64,
    /// A dead letter's order that MySQL has refused so often is given up: its units go back on sale.
    #[arg(long, env = "FLASHSALE_DEAD_LETTER_TRIES_MAX", default_value_t = 4)]
    pub dead_letter_tries_max: u32,
    /// Orders of one transaction of MySQL at most, 1 to 100.
    #[arg(long, env = "FLASHSALE_BATCH_MAX", default_value_t = BATCH_MAX as u8,
        value_parser = clap::value_parser!(u8).range(1..=BATCH_MAX as i64))]
    pub batch_max: u8,
    /// A message that comes so long after its purchase is not applied: its units are given back, s.
    #[arg(long, env = "FLASHSALE_MESSAGE_AGE_MAX_S", default_value_t = 1_800)]
    pub message_age_max_s: u64,
    /// Tables that the stock is spread over by SKU, 1 to 100; fixed by the first node that starts on a database.
    #[arg(long, env = "FLASHSALE_STOCK_SHARDS", default_value_t = SHARDS_MAX,
        value_parser = clap::value_parser!(u16).range(1..=i64::from(SHARDS_MAX)))]
    pub stock_shards: u16,
    /// How the stock in MySQL is kept from being sold twice.
    #[arg(
        long,
        env = "FLASHSALE_STOCK_STRATEGY",
        value_enum,
        default_value = "conditional"
    )]
    pub stock_strategy: StockStrategy,
    /// Bearer token of the operators' calls.
    #[arg(long, env = "FLASHSALE_OPS_TOKEN", hide_env_values = true)]
    pub ops_token: String,
    /// Buy requests in the waiting room at once; those beyond are answered `busy`.
    #[arg(long, env = "FLASHSALE_WAITING_MAX", default_value = "128")]
    pub waiting_max: NonZeroUsize,
    /// Buyers at once who ask for their order, pay or cancel; those beyond are answered `busy`.
    #[arg(long, env = "FLASHSALE_DESK_MAX", default_value = "128")]
    pub desk_max: NonZeroUsize,
    /// Orders in the queue that wait to be applied; past it buyers are answered `busy`.
    #[arg(long, env = "FLASHSALE_BACKLOG_MAX", default_value_t = 10_000)]
    pub backlog_max: u64,
    /// Orders that share a RocketMQ transaction at most, 1 to 100; 1 for whoever else reads the topic and expects no more.
    #[arg(long, env = "FLASHSALE_ORDERS_PER_MESSAGE_MAX", default_value_t = BUNDLE_MAX as u8,
        value_parser = clap::value_parser!(u8).range(1..=BUNDLE_MAX as i64))]
    pub orders_per_message_max: u8,
    /// Longest wait for a replica's acknowledgement behind each micro-batch, ms; 0 does not ask.
    #[arg(long, env = "FLASHSALE_REPLICA_ACK_MS", default_value_t = 50)]
    pub replica_ack_ms: u64,
    /// What to do while a primary has no replica that acknowledges.
    #[arg(
        long,
        env = "FLASHSALE_UNREPLICATED",
        value_enum,
        default_value = "go-on"
    )]
    pub unreplicated: Unreplicated,
    /// How long an unpaid order holds its units, s.
    #[arg(long, env = "FLASHSALE_HOLD_S", default_value_t = 900)]
    pub hold_s: u64,
    /// Where alerts are sent, as JSON by POST: `http://host:port/path`. Without it they are in the log only.
    #[arg(long, env = "FLASHSALE_ALERT_URL")]
    pub alert_url: Option<String>,
    /// The deliberate defect of this run.
    #[cfg(feature = "mutants")]
    #[arg(long, env = "FLASHSALE_MUTANT", value_enum)]
    pub mutant: Option<crate::mutants::Mutant>,
}

impl Settings {
    #[must_use]
    pub fn hold(&self) -> Duration {
        Duration::from_secs(self.hold_s)
    }

    #[must_use]
    pub fn mysql_owner_url(&self) -> Option<&str> {
        given(self.mysql_owner_url.as_deref()).filter(|owner| *owner != self.mysql_url)
    }

    #[must_use]
    pub fn mysql_replica_url(&self) -> Option<&str> {
        given(self.mysql_replica_url.as_deref())
    }

    #[must_use]
    pub fn batch_max(&self) -> usize {
        usize::from(self.batch_max)
    }

    #[must_use]
    pub fn orders_per_message_max(&self) -> usize {
        usize::from(self.orders_per_message_max)
    }

    #[must_use]
    pub fn stock_tables(&self) -> StockTables {
        StockTables {
            shards: Shards::of(self.stock_shards),
            strategy: self.stock_strategy,
        }
    }

    #[must_use]
    pub fn message_age_max(&self) -> Duration {
        Duration::from_secs(self.message_age_max_s)
    }
}

/// A URL that is empty is none: whoever fills in a template need not know whether there is one.
fn given(url: Option<&str>) -> Option<&str> {
    url.filter(|url| !url.is_empty())
}

/// Every node answers probes and operators; the rest is by role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Role {
    /// Lets buyers in.
    Gateway,
    /// Brings orders from the queue to MySQL.
    Consumer,
    /// Makes sure of the stock, gives units back.
    Keeper,
    All,
}

impl Role {
    #[must_use]
    pub fn is_gateway(self) -> bool {
        matches!(self, Self::Gateway | Self::All)
    }

    #[must_use]
    pub fn is_consumer(self) -> bool {
        matches!(self, Self::Consumer | Self::All)
    }

    #[must_use]
    pub fn is_keeper(self) -> bool {
        matches!(self, Self::Keeper | Self::All)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Unreplicated {
    /// Sell on; such grants are counted.
    GoOn,
    /// Sell nothing on that primary until a replica is back.
    Close,
}

/// `host:port` as written; not resolved.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeAddress {
    pub host: String,
    pub port: u16,
}

impl std::fmt::Display for NodeAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl std::str::FromStr for NodeAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let malformed = || AddressError(text.to_owned());
        let (host, port) = text.trim().rsplit_once(':').ok_or_else(malformed)?;
        if host.is_empty() {
            return Err(malformed());
        }
        Ok(Self {
            host: host.to_owned(),
            port: port.parse().map_err(|_| malformed())?,
        })
    }
}

/// Text that is no address where one was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no address; write host:port, in an address map announced=mapped")]
pub struct AddressError(String);

/// Announced address -> address to dial.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddressMap(HashMap<NodeAddress, NodeAddress>);

impl AddressMap {
    #[must_use]
    pub fn resolve(&self, announced: &NodeAddress) -> NodeAddress {
        self.0.get(announced).unwrap_or(announced).clone()
    }
}

impl std::str::FromStr for AddressMap {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let pairs = text
            .split(',')
            .map(str::trim)
            .filter(|pair| !pair.is_empty());
        let parse = |pair: &str| {
            let (announced, mapped) = pair
                .split_once('=')
                .ok_or_else(|| AddressError(pair.to_owned()))?;
            Ok((announced.parse()?, mapped.parse()?))
        };
        pairs.map(parse).collect::<Result<_, _>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> NodeAddress {
        text.parse().unwrap()
    }

    #[test]
    fn an_address_map_sends_known_nodes_elsewhere_and_leaves_others_alone() {
        let map: AddressMap = "127.0.0.1:7000=127.0.0.1:17000, 127.0.0.1:7001=127.0.0.1:17001"
            .parse()
            .unwrap();
        assert_eq!(
            map.resolve(&address("127.0.0.1:7001")),
            address("127.0.0.1:17001")
        );
        assert_eq!(
            map.resolve(&address("127.0.0.1:7002")),
            address("127.0.0.1:7002")
        );
        assert_eq!("".parse(), Ok(AddressMap::default()));
    }

    #[test]
    fn malformed_addresses_are_named() {
        for (text, named) in [
            ("127.0.0.1", "127.0.0.1"),
            (":7000", ":7000"),
            ("a:b", "a:b"),
            ("a:70000", "a:70000"),
        ] {
            let error = text.parse::<NodeAddress>().unwrap_err();
            assert!(error.to_string().contains(named), "{error}");
        }
        assert!("a:1".parse::<AddressMap>().is_err());
        assert!("a:1=b".parse::<AddressMap>().is_err());
    }

    #[test]
    fn the_flags_are_consistent() {
        use clap::CommandFactory;
        Settings::command().debug_assert();
    }
}
