//! Cuts a Redis primary off from all other nodes while its clients still reach it.
//!
//! It acknowledges writes until it notices, after the node time-out, that it is alone; the others give its slots to its
//! replica, and those writes are gone.

use std::net::IpAddr;
use std::time::Instant;

use crate::drill::range::Count;
use crate::environment::{RedisNode, links};
use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, Need, kind};
use crate::faults::site::Site;
use crate::faults::toxics::Toxics;
use crate::proxy::toxic::{Effect, Stream};

kind! {
    /// Cuts the Redis primary of a SKU off from all other nodes, its clients on its side: what it acknowledges until
    /// it notices is lost.
    pub struct RedisPartition {
        /// Number of the SKU whose primary is cut off, from 1.
        pub sku: Count,
    }
}

#[derive(Debug, Default)]
pub(crate) struct Partition {
    minority: Option<(usize, u16)>,
    toxics: Toxics,
    since: Option<Instant>,
}

impl Kind for RedisPartition {
    type State = Partition;
    const NEEDS: &'static [Need] = &[Need::BuiltInProxy, Need::links("redis-bus-*")];

    async fn applicable(
        &self,
        partition: &mut Partition,
        site: Site<'_>,
    ) -> Result<String, FaultError> {
        let (slot, node) = site.primary_of(self.sku).await?;
        partition.minority = Some((node.index, slot));
        let sku = site.sku(self.sku.get())?;
        Ok(format!(
            "{}, primary of SKU {sku} (slot {slot}): cut off from all other nodes, not from its clients",
            node.name()
        ))
    }

    async fn inject(&self, partition: &mut Partition, site: Site<'_>) -> Result<(), FaultError> {
        let Some((index, _)) = partition.minority else {
            return Ok(());
        };
        let minority = site.stack.redis.node(index);
        let toxics = &mut partition.toxics;
        toxics.black_hole(site, &links::redis_bus(index)).await?;
        toxics
            .black_hole(site, &links::redis_replication(index))
            .await?;
        // What it dials itself goes over the others' links.
        let alone = Some(IpAddr::V4(minority.source_address()));
        let others = site
            .stack
            .redis
            .nodes
            .iter()
            .filter(|node| node.index != index);
        for other in others {
            for stream in Stream::BOTH {
                let effect = Effect::Timeout { timeout: 0 };
                let link = links::redis_bus(other.index);
                toxics.place(site, &link, stream, effect, alone).await?;
            }
        }
        partition.since = Some(Instant::now());
        Ok(())
    }

    /// It sees no majority, and another node has its slots.
    async fn receipt(
        &self,
        partition: &mut Partition,
        site: Site<'_>,
    ) -> Result<String, FaultError> {
        let (Some((index, slot)), Some(since)) = (partition.minority, partition.since) else {
            return Err(FaultError::missing("no node was cut off"));
        };
        let minority = site.stack.redis.node(index);
        let swallowed = partition.toxics.traffic(site).await?.held_back_bytes();
        let heir = site.stack.redis.primary_of_slot(slot).await?;
        let is_alone = !sees_whole_cluster(minority).await?;
        if swallowed == 0 || heir.index == index || !is_alone {
            return Err(FaultError::missing(format!(
                "{swallowed} bytes between {} and the others swallowed; {} has slot {slot}; cut off it sees {}",
                minority.name(),
                heir.name(),
                if is_alone {
                    "no cluster"
                } else {
                    "the cluster"
                },
            )));
        }
        Ok(format!(
            "{swallowed} bytes between {} and the other nodes swallowed; it sees no majority; {} is primary of \
             slot {slot} since at most {} ms after the cut",
            minority.name(),
            heir.name(),
            since.elapsed().as_millis()
        ))
    }

    async fn heal(&self, partition: &mut Partition, site: Site<'_>) -> Result<(), FaultError> {
        partition.toxics.remove(site).await
    }

    async fn is_healed(&self, partition: &Partition, site: Site<'_>) -> Result<(), FaultError> {
        partition.toxics.are_gone(site).await?;
        site.redis_is_whole().await
    }
}

async fn sees_whole_cluster(node: &RedisNode) -> Result<bool, FaultError> {
    let info: String = node.query(redis::cmd("CLUSTER").arg("INFO")).await?;
    Ok(info.contains("cluster_state:ok"))
}
