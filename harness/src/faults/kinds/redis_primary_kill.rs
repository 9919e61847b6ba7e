//! Kills the Redis primary of a SKU so that acknowledged writes are lost.
//!
//! SIGKILL alone loses nothing on one machine: answer and replication leave in one turn of the event
//! loop and the kernel delivers both. So the replication link goes dark first, while the primary
//! still answers its clients.

use std::time::{Duration, Instant};

use crate::drill::range::Count;
use crate::environment::{Ending, RedisNode, links};
use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, Need, kind};
use crate::faults::site::Site;
use crate::faults::toxics::Toxics;

/// A sale writes to every primary many times within it.
const LOSSES_TIMEOUT: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(20);

kind! {
    /// Kills the Redis primary of a SKU (SIGKILL) with its replication dark, so that acknowledged writes are lost;
    /// started again when healed.
    pub struct RedisPrimaryKill {
        /// Number of the SKU whose primary dies, from 1.
        pub sku: Count,
        /// How long its replication is dark before the kill, ms; longer while it has written nothing since.
        pub cut_replication_ms: u64 = 500,
    }
}

/// What is known of the node, step by step.
#[derive(Debug)]
pub(crate) struct Victim {
    index: usize,
    slot: u16,
    cut: Toxics,
    /// Written by it and by no replica, right before the kill.
    unreplicated_bytes: u64,
    killed: Option<(Instant, Ending, u32)>,
}

fn found(victim: &mut Option<Victim>) -> Result<&mut Victim, FaultError> {
    let missing = || FaultError::missing("no primary was found to kill");
    victim.as_mut().ok_or_else(missing)
}

impl Kind for RedisPrimaryKill {
    type State = Option<Victim>;
    const NEEDS: &'static [Need] = &[Need::OwnServers];

    async fn applicable(
        &self,
        victim: &mut Self::State,
        site: Site<'_>,
    ) -> Result<String, FaultError> {
        let sku = site.sku(self.sku.get())?;
        let (slot, node) = site.primary_of(self.sku).await?;
        *victim = Some(Victim {
            index: node.index,
            slot,
            cut: Toxics::default(),
            unreplicated_bytes: 0,
            killed: None,
        });
        Ok(format!(
            "{} ({}), primary of SKU {sku} (slot {slot}): replication dark, kill -9 {} ms later",
            node.name(),
            node.address(),
            self.cut_replication_ms
        ))
    }

    async fn inject(&self, victim: &mut Self::State, site: Site<'_>) -> Result<(), FaultError> {
        let victim = found(victim)?;
        let node = site.stack.redis.node(victim.index);
        let link = links::redis_replication(victim.index);
        let dark_since = Instant::now();
        if self.cut_replication_ms > 0 {
            victim.cut.black_hole(site, &link).await?;
            tokio::time::sleep(Duration::from_millis(self.cut_replication_ms)).await;
        }
        victim.unreplicated_bytes = self.wait_for_losses(node, site, dark_since).await?;
        let pid = node.server.pid().unwrap_or_default();
        let ending = node.server.kill().await?;
        victim.killed = Some((Instant::now(), ending, pid));
        Ok(())
    }

    async fn receipt(
        &self,
        victim: &mut Self::State,
        site: Site<'_>,
    ) -> Result<String, FaultError> {
        let victim = found(victim)?;
        let name = site.stack.redis.node(victim.index).name();
        let Some((at, ending, pid)) = victim.killed else {
            return Err(not_killed(name, "it was never killed"));
        };
        if !ending.was_killed() {
            return Err(not_killed(name, &ending.to_string()));
        }
        if self.cut_replication_ms > 0 && victim.unreplicated_bytes == 0 {
            let missing = format!("its replicas had all that {name} had written before the kill");
            return Err(FaultError::missing(missing));
        }
        let heir = heir(site, victim).await?;
        Ok(format!(
            "{name} (pid {pid}) exited by signal 9 with {} bytes written that no replica had; {} is primary of slot {} since at most {} ms after the kill",
            victim.unreplicated_bytes,
            heir.name(),
            victim.slot,
            at.elapsed().as_millis()
        ))
    }

    async fn heal(&self, victim: &mut Self::State, site: Site<'_>) -> Result<(), FaultError> {
        let Some(victim) = victim else {
            return Ok(());
        };
        victim.cut.remove(site).await?;
        let node = site.stack.redis.node(victim.index);
        node.server.start_again().await?;
        Ok(())
    }

    /// The node is back as a replica in sync, and every node sees a whole cluster.
    async fn is_healed(&self, _: &Self::State, site: Site<'_>) -> Result<(), FaultError> {
        site.redis_is_whole().await
    }
}

impl RedisPrimaryKill {
    /// Bytes that only the victim has. On a slow machine nothing may be written for a while, and then nothing is lost.
    async fn wait_for_losses(
        &self,
        node: &RedisNode,
        site: Site<'_>,
        dark_since: Instant,
    ) -> Result<u64, FaultError> {
        let begun = Instant::now();
        loop {
            let dark = dark_since.elapsed();
            match site.stack.redis.unreplicated_bytes(node, dark).await {
                Ok(bytes) if bytes > 0 || self.cut_replication_ms == 0 => return Ok(bytes),
                Ok(_) if begun.elapsed() > LOSSES_TIMEOUT => return Ok(0),
                // A busy machine may be late with an answer.
                Err(error) if begun.elapsed() > LOSSES_TIMEOUT => return Err(error.into()),
                _ => tokio::time::sleep(LOOK_EVERY).await,
            }
        }
    }
}

/// The node that took over.
async fn heir<'s>(site: Site<'s>, victim: &Victim) -> Result<&'s RedisNode, FaultError> {
    let none = || {
        FaultError::missing(format!(
            "no other node is primary of slot {} (a failover takes 2 to 5 s: is the node started \
             again too early?)",
            victim.slot
        ))
    };
    let heir = site
        .stack
        .redis
        .primary_of_slot(victim.slot)
        .await
        .map_err(|_| none())?;
    if heir.index == victim.index {
        Err(none())
    } else {
        Ok(heir)
    }
}

fn not_killed(victim: &str, how: &str) -> FaultError {
    FaultError::NotKilled {
        victim: victim.to_owned(),
        how: how.to_owned(),
    }
}
