//! The proxied links of the stack, by name, and the ports they listen on.

use std::net::{Ipv4Addr, SocketAddr};

use super::error::EnvironmentError;
use super::mysql::Mysql;
use super::ports::free_port;
use super::redis_cluster;
use super::stack::Stack;
use crate::proxy::ProxyKind;
use crate::proxy::client::{LinkRequest, ProxyClient};
use crate::proxy::cut::{Protocol, Rewrites};
use crate::target::template::Variables;

/// The broker's advertised address: every client's way to it. The nodes' own ways lead here, so a fault here hits all of
/// them; but when this link refuses, a node's connect is still accepted by its own, and closed then.
pub const ROCKETMQ_BROKER: &str = "rocketmq-broker";
/// The replica's way to the primary.
pub const MYSQL_REPLICATION: &str = "mysql-replication";

/// The other nodes' way to Redis node `index`.
pub fn redis_replication(index: usize) -> String {
    format!("redis-replication-{index}")
}

/// The other nodes' way to the cluster bus of Redis node `index`.
pub fn redis_bus(index: usize) -> String {
    format!("redis-bus-{index}")
}

/// Service node `node`'s way to Redis node `index`.
pub fn service_redis(node: usize, index: usize) -> String {
    format!("service-{node}-redis-{index}")
}

/// Service node `node`'s way to MySQL.
pub fn service_mysql(node: usize) -> String {
    format!("service-{node}-mysql")
}

/// Service node `node`'s way to MySQL's replica.
pub fn service_replica(node: usize) -> String {
    format!("service-{node}-replica")
}

/// Service node `node`'s way to the name server.
pub fn service_namesrv(node: usize) -> String {
    format!("service-{node}-namesrv")
}

/// Service node `node`'s way to the broker: only behind the built-in proxy, which sends the node here when it asks the
/// name server.
pub fn service_broker(node: usize) -> String {
    format!("service-{node}-broker")
}

/// The servers of a stack, as far as links lead to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    pub redis_nodes: usize,
    pub has_replica: bool,
    /// The servers are ours, and reach each other through links; others know nothing of our proxy.
    pub is_ours: bool,
    pub proxy: ProxyKind,
}

impl Layout {
    /// Of a stack that flashdrill brings up, with all the links there can be.
    pub const OURS: Self = Self {
        redis_nodes: redis_cluster::NODES,
        has_replica: true,
        is_ours: true,
        proxy: ProxyKind::BuiltIn,
    };

    /// Every link, with so many service nodes.
    pub fn names(self, service_nodes: usize) -> Vec<String> {
        let services = (0..service_nodes).flat_map(|node| self.service(node));
        let broker = [ROCKETMQ_BROKER.to_owned()].into_iter();
        broker.chain(self.between()).chain(services).collect()
    }

    /// Those between the servers.
    fn between(self) -> Vec<String> {
        if !self.is_ours {
            return Vec::new();
        }
        [MYSQL_REPLICATION.to_owned()]
            .into_iter()
            .chain(self.between_redis_nodes())
            .collect()
    }

    /// Without them a primary knows nothing of its replica, or the others nothing of it.
    pub fn between_redis_nodes(self) -> impl Iterator<Item = String> {
        (0..self.redis_nodes).flat_map(|index| [redis_replication(index), redis_bus(index)])
    }

    /// One service node's.
    fn service(self, node: usize) -> Vec<String> {
        let redis = (0..self.redis_nodes).map(|index| service_redis(node, index));
        let replica = self.has_replica.then(|| service_replica(node));
        let broker = (self.proxy == ProxyKind::BuiltIn).then(|| service_broker(node));
        let others = [service_mysql(node), service_namesrv(node)];
        redis.chain(replica).chain(others).chain(broker).collect()
    }
}

/// One service node's own links, so that it can be cut off from a server that the others still reach.
#[derive(Debug)]
pub struct ServiceLinks {
    pub node: usize,
    /// Ports of the listeners, by index of the Redis node.
    pub redis: Vec<u16>,
    pub mysql: u16,
    pub replica: Option<u16>,
    pub namesrv: u16,
    /// None: the node shares [`ROCKETMQ_BROKER`] with the others.
    pub broker: Option<u16>,
}

impl ServiceLinks {
    pub(super) async fn open(stack: &Stack, node: usize) -> Result<Self, EnvironmentError> {
        let proxy = &stack.links;
        let mut redis = Vec::with_capacity(stack.redis.nodes.len());
        for server in &stack.redis.nodes {
            let name = service_redis(node, server.index);
            redis.push(open(proxy, &name, server.address()).await?);
            if stack.proxy_kind() == ProxyKind::BuiltIn {
                // Connections of RESP are followed from their first byte or never: a cut may want them.
                proxy.follow(&name, Some(Protocol::Resp)).await?;
            }
        }
        let replica = match &stack.mysql_replica {
            Some(replica) => {
                let address = replica.mysql.address();
                Some(open(proxy, &service_replica(node), address).await?)
            }
            None => None,
        };
        let (broker, namesrv) = open_to_rocketmq(stack, node).await?;
        Ok(Self {
            node,
            redis,
            mysql: open(proxy, &service_mysql(node), stack.mysql.address()).await?,
            replica,
            namesrv,
            broker,
        })
    }

    /// What the node is told of its servers.
    pub(super) fn variables(&self, stack: &Stack) -> Variables {
        let seeds = self.redis.iter().map(|port| local(*port));
        let map = stack.redis.nodes.iter().zip(&self.redis);
        let map = map.map(|(node, port)| format!("{}={}", node.announced, local(*port)));
        let pairs = [
            ("node", self.node.to_string()),
            ("mysql_url", stack.mysql.service_url(self.mysql)),
            ("mysql_node_url", stack.mysql.node_url(self.mysql)),
            (
                "mysql_replica_url",
                self.replica_url(stack, Mysql::service_url),
            ),
            (
                "mysql_node_replica_url",
                self.replica_url(stack, Mysql::node_url),
            ),
            ("redis_seeds", seeds.collect::<Vec<_>>().join(",")),
            ("redis_address_map", map.collect::<Vec<_>>().join(",")),
            ("rocketmq_namesrv", local(self.namesrv)),
        ];
        let named = |(name, value): (&str, String)| (name.to_owned(), value);
        pairs.into_iter().map(named).collect()
    }

    /// Empty where there is no replica, so that a target file need not know.
    fn replica_url(&self, stack: &Stack, account: fn(&Mysql, u16) -> String) -> String {
        let replica = stack.mysql_replica.as_ref().zip(self.replica);
        replica.map_or_else(String::new, |(replica, port)| account(&replica.mysql, port))
    }
}

/// Links to the broker, if the node has its own, and to the name server, which sends it there.
async fn open_to_rocketmq(
    stack: &Stack,
    node: usize,
) -> Result<(Option<u16>, u16), EnvironmentError> {
    let (proxy, rocketmq) = (&stack.links, &stack.rocketmq);
    let (broker, rewrites) = match stack.proxy_kind() {
        ProxyKind::Toxiproxy => (None, Rewrites::default()),
        ProxyKind::BuiltIn => {
            let port = open(proxy, &service_broker(node), rocketmq.broker_link).await?;
            let rewrites = Rewrites::of(&rocketmq.advertised.to_string(), &local(port));
            (Some(port), rewrites)
        }
    };
    let (name, upstream) = (service_namesrv(node), rocketmq.name_server_address);
    let name_server = open_rewriting(proxy, &name, upstream, rewrites).await?;
    Ok((broker, name_server))
}

fn local(port: u16) -> String {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port)).to_string()
}

/// Opens a link at a port of our choice, which it returns.
///
/// # Errors
/// No free port, or the proxy refuses.
pub(crate) async fn open(
    proxy: &ProxyClient,
    name: &str,
    upstream: SocketAddr,
) -> Result<u16, EnvironmentError> {
    open_rewriting(proxy, name, upstream, Rewrites::default()).await
}

async fn open_rewriting(
    proxy: &ProxyClient,
    name: &str,
    upstream: SocketAddr,
    rewrites: Rewrites,
) -> Result<u16, EnvironmentError> {
    let mut request = LinkRequest::new(name, "", upstream);
    request.rewrites = rewrites;
    loop {
        let port = free_port()?;
        request.listen = local(port);
        match put(proxy, &request).await {
            Ok(()) => return Ok(port),
            // Somebody was quicker: ends with `NoFreePort` at the latest.
            Err(error) if error.is_port_in_use() => {}
            Err(error) => return Err(error),
        }
    }
}

/// Opens a link at a given port of 127.0.0.1.
pub(crate) async fn open_at(
    proxy: &ProxyClient,
    name: &str,
    port: u16,
    upstream: SocketAddr,
) -> Result<(), EnvironmentError> {
    put(proxy, &LinkRequest::new(name, local(port), upstream)).await
}

async fn put(proxy: &ProxyClient, request: &LinkRequest) -> Result<(), EnvironmentError> {
    Ok(proxy.put(request).await?)
}
