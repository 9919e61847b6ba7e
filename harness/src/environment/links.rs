//! The proxied links of the stack, by name, and the ports they listen on.

use std::net::{Ipv4Addr, SocketAddr};

use super::error::EnvironmentError;
use super::mysql::Mysql;
use super::ports::free_port;
use super::redis_cluster::{self, RedisCluster};
use super::stack::Stack;
use crate::proxy::ProxyKind;
use crate::proxy::client::{LinkRequest, ProxyClient};
use crate::proxy::cut::Rewrites;
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

/// Every link of a stack with so many service nodes.
pub fn names(service_nodes: usize, proxy: ProxyKind) -> Vec<String> {
    let single = [ROCKETMQ_BROKER, MYSQL_REPLICATION].map(str::to_owned);
    let redis =
        (0..redis_cluster::NODES).flat_map(|index| [redis_replication(index), redis_bus(index)]);
    let services = (0..service_nodes).flat_map(|node| service(node, proxy));
    single.into_iter().chain(redis).chain(services).collect()
}

fn service(node: usize, proxy: ProxyKind) -> Vec<String> {
    let redis = (0..redis_cluster::NODES).map(|index| service_redis(node, index));
    let others = [service_mysql, service_replica, service_namesrv].map(|name| name(node));
    let broker = (proxy == ProxyKind::BuiltIn).then(|| service_broker(node));
    redis.chain(others).chain(broker).collect()
}

/// One service node's own links, so that it can be cut off from a server that the others still reach.
#[derive(Debug)]
pub struct ServiceLinks {
    pub node: usize,
    /// Ports of the listeners, by index of the Redis node.
    pub redis: Vec<u16>,
    pub mysql: u16,
    pub replica: u16,
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
        }
        let (mysql, replica) = (&stack.mysql, &stack.mysql_replica.mysql);
        let (broker, namesrv) = open_to_rocketmq(stack, node).await?;
        Ok(Self {
            node,
            redis,
            mysql: open(proxy, &service_mysql(node), mysql.address()).await?,
            replica: open(proxy, &service_replica(node), replica.address()).await?,
            namesrv,
            broker,
        })
    }

    /// Names of the links.
    pub fn names(&self) -> Vec<String> {
        let proxy = self
            .broker
            .map_or(ProxyKind::Toxiproxy, |_| ProxyKind::BuiltIn);
        service(self.node, proxy)
    }

    /// What the node is told of its servers.
    pub(super) fn variables(&self, redis: &RedisCluster) -> Variables {
        let seeds = self.redis.iter().map(|port| local(*port));
        let map = redis.nodes.iter().zip(&self.redis);
        let map =
            map.map(|(node, port)| format!("{}={}", local(node.announced_port), local(*port)));
        let pairs = [
            ("node", self.node.to_string()),
            ("mysql_url", Mysql::service_url(self.mysql)),
            ("mysql_replica_url", Mysql::service_url(self.replica)),
            ("redis_seeds", seeds.collect::<Vec<_>>().join(",")),
            ("redis_address_map", map.collect::<Vec<_>>().join(",")),
            ("rocketmq_namesrv", local(self.namesrv)),
        ];
        let named = |(name, value): (&str, String)| (name.to_owned(), value);
        pairs.into_iter().map(named).collect()
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
            let advertised = rocketmq.advertised();
            let port = open(proxy, &service_broker(node), advertised).await?;
            let rewrites = Rewrites::of(&advertised.to_string(), &local(port));
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
