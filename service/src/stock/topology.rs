//! Which primary owns which slots, as the cluster itself says.
//!
//! All known nodes are asked, and the answer of the one with the highest cluster epoch counts: a
//! primary that was cut off and replaced still believes that it owns its slots, at an older epoch.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use redis::Value;
use redis::aio::MultiplexedConnection;
use tokio::task::JoinSet;

use super::connection;
use crate::settings::{AddressMap, NodeAddress};

/// A primary and where to dial it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Primary {
    pub node_id: String,
    pub address: NodeAddress,
}

/// Slots `start..=end` and their primary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotRange {
    pub start: u16,
    pub end: u16,
    pub primary: Primary,
}

/// The cluster as one node describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Topology {
    pub epoch: u64,
    pub ranges: Vec<SlotRange>,
    /// Every node, replicas too, as dialled.
    pub nodes: BTreeSet<NodeAddress>,
}

/// Nobody could say what the cluster looks like.
#[derive(Debug, Clone, thiserror::Error)]
#[error(
    "no Redis node of {asked} describes a working cluster: {reasons}; check --redis-seeds and the servers"
)]
pub struct NoTopology {
    asked: String,
    reasons: String,
}

/// Asks the cluster's nodes, over connections that are kept from one time to the next.
#[derive(Debug)]
pub struct Scout {
    map: AddressMap,
    seeds: Vec<NodeAddress>,
    known: BTreeSet<NodeAddress>,
    connections: HashMap<NodeAddress, MultiplexedConnection>,
}

impl Scout {
    #[must_use]
    pub fn new(seeds: Vec<NodeAddress>, map: AddressMap) -> Self {
        let known = seeds.iter().cloned().collect();
        Self {
            map,
            seeds,
            known,
            connections: HashMap::new(),
        }
    }

    /// The newest description any reachable node gives.
    ///
    /// # Errors
    /// No node answers with a working cluster.
    pub async fn discover(&mut self) -> Result<Topology, NoTopology> {
        let mut asked = JoinSet::new();
        for address in &self.known {
            let connection = self.connections.remove(address);
            asked.spawn(ask(address.clone(), connection, self.map.clone()));
        }
        let mut best: Option<Topology> = None;
        let mut reasons = BTreeMap::new();
        while let Some(Ok((address, answer))) = asked.join_next().await {
            match answer {
                Ok((connection, topology)) => {
                    self.connections.insert(address, connection);
                    if best.as_ref().is_none_or(|best| topology.epoch > best.epoch) {
                        best = Some(topology);
                    }
                }
                Err(reason) => drop(reasons.insert(address, reason)),
            }
        }
        let best = best.ok_or_else(|| self.none(&reasons))?;
        self.known = self.seeds.iter().chain(&best.nodes).cloned().collect();
        Ok(best)
    }

    fn none(&self, reasons: &BTreeMap<NodeAddress, String>) -> NoTopology {
        let asked = self
            .known
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", ");
        let reasons = reasons
            .iter()
            .map(|(address, reason)| format!("{address}: {reason}"));
        NoTopology {
            asked,
            reasons: reasons.collect::<Vec<_>>().join("; "),
        }
    }
}

type Answer = Result<(MultiplexedConnection, Topology), String>;

async fn ask(
    address: NodeAddress,
    connection: Option<MultiplexedConnection>,
    map: AddressMap,
) -> (NodeAddress, Answer) {
    let answer = describe(&address, connection, &map).await;
    (address, answer)
}

async fn describe(
    address: &NodeAddress,
    connection: Option<MultiplexedConnection>,
    map: &AddressMap,
) -> Answer {
    let mut connection = match connection {
        Some(connection) => connection,
        None => connection::open(address)
            .await
            .map_err(|error| error.to_string())?,
    };
    let mut pipe = redis::pipe();
    pipe.cmd("CLUSTER").arg("INFO").cmd("CLUSTER").arg("SLOTS");
    let (info, slots): (String, Value) = pipe
        .query_async(&mut connection)
        .await
        .map_err(|error| error.to_string())?;
    let epoch = working_epoch(&info)?;
    let topology = read_slots(&slots, &address.host, map, epoch)?;
    Ok((connection, topology))
}

/// The cluster's epoch, if this node thinks that the cluster works.
fn working_epoch(info: &str) -> Result<u64, String> {
    let field = |name: &str| {
        info.lines()
            .find_map(|line| line.strip_prefix(name))
            .map(str::trim)
    };
    match field("cluster_state:") {
        Some("ok") => {}
        state => return Err(format!("cluster_state is {}", state.unwrap_or("missing"))),
    }
    let epoch = field("cluster_current_epoch:").and_then(|epoch| epoch.parse().ok());
    epoch.ok_or_else(|| "cluster_current_epoch is missing".to_owned())
}

/// Reads `CLUSTER SLOTS`. An empty host in it means the host that was asked.
fn read_slots(
    slots: &Value,
    asked_host: &str,
    map: &AddressMap,
    epoch: u64,
) -> Result<Topology, String> {
    let malformed = || "CLUSTER SLOTS has an unexpected shape".to_owned();
    let Value::Array(rows) = slots else {
        return Err(malformed());
    };
    let mut topology = Topology {
        epoch,
        ..Topology::default()
    };
    for row in rows {
        let Value::Array(parts) = row else {
            return Err(malformed());
        };
        let [Value::Int(start), Value::Int(end), primary, replicas @ ..] = parts.as_slice() else {
            return Err(malformed());
        };
        let primary = read_node(primary, asked_host, map).ok_or_else(malformed)?;
        let replicas = replicas
            .iter()
            .filter_map(|replica| read_node(replica, asked_host, map));
        topology.nodes.insert(primary.address.clone());
        topology
            .nodes
            .extend(replicas.map(|replica| replica.address));
        let slot = |number: &i64| u16::try_from(*number).map_err(|_| malformed());
        topology.ranges.push(SlotRange {
            start: slot(start)?,
            end: slot(end)?,
            primary,
        });
    }
    topology.ranges.sort_by_key(|range| range.start);
    Ok(topology)
}

fn read_node(node: &Value, asked_host: &str, map: &AddressMap) -> Option<Primary> {
    let Value::Array(fields) = node else {
        return None;
    };
    let [host, Value::Int(port), Value::BulkString(node_id), ..] = fields.as_slice() else {
        return None;
    };
    let host = match host {
        Value::BulkString(host) if !host.is_empty() => String::from_utf8(host.clone()).ok()?,
        Value::BulkString(_) | Value::Nil => asked_host.to_owned(),
        _ => return None,
    };
    let announced = NodeAddress {
        host,
        port: u16::try_from(*port).ok()?,
    };
    Some(Primary {
        node_id: String::from_utf8(node_id.clone()).ok()?,
        address: map.resolve(&announced),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(host: &str, port: i64, id: &str) -> Value {
        Value::Array(vec![
            Value::BulkString(host.into()),
            Value::Int(port),
            Value::BulkString(id.into()),
            Value::Array(vec![]),
        ])
    }

    fn row(start: i64, end: i64, nodes: Vec<Value>) -> Value {
        Value::Array([vec![Value::Int(start), Value::Int(end)], nodes].concat())
    }

    #[test]
    fn slots_are_read_sorted_and_mapped() {
        let slots = Value::Array(vec![
            row(8192, 16383, vec![node("", 7001, "b")]),
            row(
                0,
                8191,
                vec![node("10.0.0.1", 7000, "a"), node("10.0.0.3", 7002, "c")],
            ),
        ]);
        let map = "10.0.0.1:7000=127.0.0.1:17000".parse().unwrap();
        let topology = read_slots(&slots, "10.0.0.9", &map, 4).unwrap();
        let ranges: Vec<_> = topology
            .ranges
            .iter()
            .map(|r| {
                (
                    r.start,
                    r.end,
                    r.primary.node_id.as_str(),
                    r.primary.address.to_string(),
                )
            })
            .collect();
        assert_eq!(
            ranges,
            [
                (0, 8191, "a", "127.0.0.1:17000".to_owned()),
                (8192, 16383, "b", "10.0.0.9:7001".to_owned())
            ]
        );
        assert_eq!(topology.nodes.len(), 3);
    }

    #[test]
    fn a_node_that_sees_no_working_cluster_is_not_believed() {
        let cases = [
            ("cluster_state:ok\r\ncluster_current_epoch:7\r\n", Ok(7)),
            (
                "cluster_state:fail\r\ncluster_current_epoch:7\r\n",
                Err("cluster_state is fail".to_owned()),
            ),
            (
                "cluster_state:ok\r\n",
                Err("cluster_current_epoch is missing".to_owned()),
            ),
            ("", Err("cluster_state is missing".to_owned())),
        ];
        for (info, expected) in cases {
            assert_eq!(working_epoch(info), expected, "{info}");
        }
    }
}
