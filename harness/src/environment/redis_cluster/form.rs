//! Joins fresh nodes to a cluster: slots, meetings, replicas.

use std::time::{Duration, Instant};

use redis::cmd;

use super::super::error::EnvironmentError;
use super::node::{RedisNode, field};

const SLOTS: usize = 16_384;
const MEET_TIMEOUT: Duration = Duration::from_secs(15);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The first `primaries` nodes share the slots, the others follow them one each.
pub(super) async fn form(nodes: &[RedisNode], primaries: usize) -> Result<(), EnvironmentError> {
    for (index, node) in nodes.iter().enumerate() {
        // Distinct epochs at once: sorting out equal ones by collision takes seconds.
        node.query::<()>(cmd("CLUSTER").arg("SET-CONFIG-EPOCH").arg(index + 1))
            .await?;
        if index < primaries {
            let (low, high) = (
                SLOTS * index / primaries,
                SLOTS * (index + 1) / primaries - 1,
            );
            node.query::<()>(cmd("CLUSTER").arg("ADDSLOTSRANGE").arg(low).arg(high))
                .await?;
        }
    }
    meet(nodes).await?;
    let mut ids = Vec::with_capacity(primaries);
    for primary in &nodes[..primaries] {
        ids.push(primary.myself().await?.id);
    }
    for (replica, primary) in nodes[primaries..].iter().zip(&ids) {
        replica
            .query::<()>(cmd("CLUSTER").arg("REPLICATE").arg(primary))
            .await?;
    }
    Ok(())
}

/// Everybody meets everybody: quicker than waiting for gossip to spread.
async fn meet(nodes: &[RedisNode]) -> Result<(), EnvironmentError> {
    for (index, node) in nodes.iter().enumerate() {
        for other in &nodes[index + 1..] {
            let mut meet = cmd("CLUSTER");
            meet.arg("MEET")
                .arg(other.announced.ip().to_string())
                .arg(other.announced.port())
                .arg(other.announced_bus_port);
            node.query::<()>(&meet).await?;
        }
    }
    let start = Instant::now();
    for node in nodes {
        while let Some(missing) = strangers(node, nodes.len()).await? {
            if start.elapsed() > MEET_TIMEOUT {
                return Err(node.step("meeting the other nodes", missing));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
    Ok(())
}

/// None when the node knows all of them by their final names.
async fn strangers(node: &RedisNode, nodes: usize) -> Result<Option<String>, EnvironmentError> {
    let info: String = node.query(cmd("CLUSTER").arg("INFO")).await?;
    let known = field(&info, "cluster_known_nodes")
        .unwrap_or("none")
        .to_owned();
    let table: String = node.query(cmd("CLUSTER").arg("NODES")).await?;
    let greeting = table.contains("handshake");
    let whole = known == nodes.to_string() && !greeting;
    Ok((!whole).then(|| format!("knows {known} of {nodes} nodes")))
}
