//! Redis Cluster: three primaries, three replicas, every link behind the fault proxy.

mod form;
mod node;
mod topology;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use redis::cmd;

pub use node::RedisNode;
pub use topology::Myself;

use super::error::EnvironmentError;
use super::launcher::Launcher;
use crate::proxy::ProxyClient;

const PRIMARIES: usize = 3;
pub(super) const NODES: usize = 6;
/// A busy machine needs 4 to 5 s for a failover, and a first synchronisation of a replica as much.
const HEALTHY_TIMEOUT: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// What a primary writes to its replicas by itself, and how often (`repl-ping-replica-period`).
const PING_BYTES: u64 = "*1\r\n$4\r\nPING\r\n".len() as u64;
const PING_EVERY: Duration = Duration::from_secs(10);

/// What a primary may have written to its replicas by itself in a stretch of time, at most.
pub(crate) fn pings_bytes(within: Duration) -> u64 {
    PING_BYTES * (1 + within.as_secs() / PING_EVERY.as_secs())
}

#[derive(Debug)]
pub struct RedisCluster {
    pub nodes: Vec<RedisNode>,
    /// So many of them are primaries while all is well.
    primaries: usize,
}

impl RedisCluster {
    /// Starts six nodes, forms the cluster and waits until it is whole.
    pub(crate) async fn start(
        launcher: &Arc<Launcher>,
        proxy: &ProxyClient,
    ) -> Result<Self, EnvironmentError> {
        let starts = (0..NODES).map(|index| Self::start_node(launcher, proxy, index));
        let nodes = try_join_all(starts).await?;
        let cluster = Self {
            nodes,
            primaries: PRIMARIES,
        };
        form::form(&cluster.nodes, PRIMARIES).await?;
        cluster.wait_healthy().await?;
        Ok(cluster)
    }

    /// The cluster of somebody else's nodes.
    ///
    /// # Errors
    /// It has other nodes than these, or is not whole.
    pub(crate) async fn attach(nodes: Vec<RedisNode>) -> Result<Self, EnvironmentError> {
        let mut primaries = 0;
        for node in &nodes {
            primaries += usize::from(node.myself().await?.is_primary);
        }
        let cluster = Self { nodes, primaries };
        match cluster.missing().await? {
            None => Ok(cluster),
            Some(missing) => Err(EnvironmentError::step("redis", "attaching", missing)),
        }
    }

    /// A lost race for a port is run again with another.
    async fn start_node(
        launcher: &Arc<Launcher>,
        proxy: &ProxyClient,
        index: usize,
    ) -> Result<RedisNode, EnvironmentError> {
        super::with_fresh_ports(|| async move {
            let node = RedisNode::start(launcher, proxy, index).await?;
            node.wait_answering().await?;
            Ok(node)
        })
        .await
    }

    /// Direct addresses of all nodes, for observers.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.nodes.iter().map(RedisNode::address).collect()
    }

    pub async fn slot_of(&self, key: &str) -> Result<u16, EnvironmentError> {
        let mut last = EnvironmentError::Stopped;
        for node in self.nodes.iter().filter(|node| node.server.is_alive()) {
            match node.query(cmd("CLUSTER").arg("KEYSLOT").arg(key)).await {
                Ok(slot) => return Ok(slot),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// The node that owns the slot now.
    ///
    /// # Errors
    /// No live node claims it: a failover is under way.
    pub async fn primary_of_slot(&self, slot: u16) -> Result<&RedisNode, EnvironmentError> {
        let mut owner: Option<(u64, &RedisNode)> = None;
        for node in self.nodes.iter().filter(|node| node.server.is_alive()) {
            let Ok(myself) = node.myself().await else {
                continue;
            };
            if myself.owns(slot) && owner.is_none_or(|(epoch, _)| myself.epoch > epoch) {
                owner = Some((myself.epoch, node));
            }
        }
        owner.map(|(_, node)| node).ok_or_else(|| {
            EnvironmentError::step(
                "redis",
                "finding a primary",
                format!("none owns slot {slot}"),
            )
        })
    }

    /// The node that owns the key's slot now.
    pub async fn primary_of(&self, key: &str) -> Result<&RedisNode, EnvironmentError> {
        self.primary_of_slot(self.slot_of(key).await?).await
    }

    /// Bytes that clients have written to `primary` and none of its replicas has, when its replication is cut for `dark`:
    /// at least so many.
    ///
    /// # Errors
    /// It has no replica, or one that does not answer.
    pub async fn unreplicated_bytes(
        &self,
        primary: &RedisNode,
        dark: Duration,
    ) -> Result<u64, EnvironmentError> {
        let id = Some(primary.myself().await?.id);
        let written = primary.replication_offset().await?;
        let mut taken_in = None;
        for node in self.nodes.iter().filter(|node| node.server.is_alive()) {
            if node.myself().await?.primary_id == id {
                taken_in = taken_in.max(Some(node.replication_offset().await?));
            }
        }
        let taken_in = taken_in.ok_or_else(|| primary.step("comparing offsets", "no replica"))?;
        Ok(written.saturating_sub(taken_in + pings_bytes(dark)))
    }

    pub fn node(&self, index: usize) -> &RedisNode {
        &self.nodes[index]
    }

    /// Waits until every node runs, the cluster is whole and every replica is in sync.
    ///
    /// # Errors
    /// What is still missing after half a minute.
    pub async fn wait_healthy(&self) -> Result<(), EnvironmentError> {
        let start = Instant::now();
        loop {
            let missing = match self.missing().await {
                Ok(None) => return Ok(()),
                Ok(Some(missing)) => missing,
                Err(error) => error.to_string(),
            };
            if start.elapsed() > HEALTHY_TIMEOUT {
                let step = format!("waiting {HEALTHY_TIMEOUT:?} for a whole cluster");
                return Err(EnvironmentError::step("redis", &step, missing));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// What keeps the cluster from being whole; None: it is.
    pub async fn missing(&self) -> Result<Option<String>, EnvironmentError> {
        let mut primaries = 0;
        for node in &self.nodes {
            let info: String = node.query(cmd("CLUSTER").arg("INFO")).await?;
            let field = |name| node::field(&info, name).unwrap_or("unknown");
            let (state, known) = (field("cluster_state"), field("cluster_known_nodes"));
            if (state, known) != ("ok", &self.nodes.len().to_string()) {
                return Ok(Some(format!(
                    "{} sees a cluster of {known} nodes in state {state}, not of {} in state ok",
                    node.name(),
                    self.nodes.len()
                )));
            }
            if node.myself().await?.is_primary {
                primaries += 1;
            } else if !node.is_replica_in_sync().await? {
                return Ok(Some(format!("replica {} is not in sync", node.name())));
            }
        }
        let whole = primaries == self.primaries;
        Ok((!whole).then(|| format!("{primaries} primaries instead of {}", self.primaries)))
    }

    /// Empties every primary, and waits for the replicas to follow.
    pub(crate) async fn flush(&self) -> Result<(), EnvironmentError> {
        for node in &self.nodes {
            if node.myself().await?.is_primary {
                let mut connection = node.connect().await?;
                // WAIT on the same connection covers the FLUSHALL before it.
                let _: (String, i64) = redis::pipe()
                    .cmd("FLUSHALL")
                    .cmd("WAIT")
                    .arg(1)
                    .arg(1_000)
                    .query_async(&mut connection)
                    .await
                    .map_err(|e| node.step("FLUSHALL", e))?;
            }
        }
        Ok(())
    }

    /// Keys on all nodes, replicas included.
    pub(crate) async fn keys(&self) -> Result<u64, EnvironmentError> {
        let mut keys = 0;
        for node in &self.nodes {
            keys += node.query::<u64>(&cmd("DBSIZE")).await?;
        }
        Ok(keys)
    }

    /// Starts dead nodes again and waits for them to answer.
    pub(crate) async fn revive(&self) -> Result<(), EnvironmentError> {
        for node in &self.nodes {
            node.server.start_again().await?;
        }
        for node in &self.nodes {
            node.wait_answering().await?;
        }
        Ok(())
    }

    pub(crate) async fn version(&self) -> Result<String, EnvironmentError> {
        let info = self.nodes[0].info("server").await?;
        Ok(format!(
            "Redis {}",
            node::field(&info, "redis_version").unwrap_or("of unknown version")
        ))
    }
}
