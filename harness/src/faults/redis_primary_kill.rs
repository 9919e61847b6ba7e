//! Kills the Redis primary of a SKU so that acknowledged writes are lost.
//!
//! SIGKILL alone loses nothing on one machine: answer and replication leave in one turn of the event
//! loop and the kernel delivers both. So the replication link goes dark first, while the primary
//! still answers its clients.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use super::error::FaultError;
use super::injection::{Injection, Site};
use super::sku_command::SkuCommand;
use crate::environment::{RedisNode, links};
use crate::proxy::toxic::Stream;

#[derive(Debug)]
pub(super) struct RedisPrimaryKill {
    sku: String,
    cut_replication: Duration,
    restart_after: Duration,
    victim: Option<Victim>,
}

/// What is known of the node, step by step.
#[derive(Debug)]
struct Victim {
    index: usize,
    slot: u16,
    held_back_before: u64,
    held_back_bytes: u64,
    killed: Option<(Instant, ExitStatus, u32)>,
}

impl RedisPrimaryKill {
    pub fn new(sku: &str, cut_replication_ms: u64, restart_after_ms: u64) -> Self {
        Self {
            sku: sku.to_owned(),
            cut_replication: Duration::from_millis(cut_replication_ms),
            restart_after: Duration::from_millis(restart_after_ms),
            victim: None,
        }
    }

    fn victim(&mut self) -> Result<&mut Victim, FaultError> {
        let missing = || FaultError::NoReceipt {
            missing: "no primary was found to kill".to_owned(),
        };
        self.victim.as_mut().ok_or_else(missing)
    }
}

impl Injection for RedisPrimaryKill {
    async fn applicable(&mut self, site: Site<'_>) -> Result<String, FaultError> {
        let key = SkuCommand::available(site, &self.sku)?;
        let slot = site.stack.redis.slot_of(key.key()).await?;
        let node = site.stack.redis.primary_of_slot(slot).await?;
        self.victim = Some(Victim {
            index: node.index,
            slot,
            held_back_before: 0,
            held_back_bytes: 0,
            killed: None,
        });
        Ok(format!(
            "{} (127.0.0.1:{}), primary of SKU {} (slot {slot}): replication dark, kill -9 {} ms later",
            node.name(),
            node.port,
            self.sku,
            self.cut_replication.as_millis()
        ))
    }

    async fn inject(&mut self, site: Site<'_>) -> Result<(), FaultError> {
        let cut = self.cut_replication;
        let victim = self.victim()?;
        let node = site.stack.redis.node(victim.index);
        let link = links::redis_replication(victim.index);
        victim.held_back_before = site.stack.links.traffic(&link).await?.held_back_bytes();
        if !cut.is_zero() {
            for stream in Stream::BOTH {
                site.stack.links.black_hole(&link, stream).await?;
            }
            tokio::time::sleep(cut).await;
        }
        victim.held_back_bytes = held_back(site, &link, victim.held_back_before).await?;
        let pid = node.process.pid().unwrap_or_default();
        let status = node.process.kill().await?;
        victim.killed = Some((Instant::now(), status, pid));
        Ok(())
    }

    async fn receipt(&mut self, site: Site<'_>) -> Result<String, FaultError> {
        let cut = !self.cut_replication.is_zero();
        let victim = self.victim()?;
        let name = site.stack.redis.node(victim.index).name();
        let Some((at, status, pid)) = victim.killed else {
            return Err(not_killed(name, "it was never killed"));
        };
        if status.signal() != Some(9) {
            return Err(not_killed(name, &status.to_string()));
        }
        if cut && victim.held_back_bytes == 0 {
            let missing = format!("no byte was held back on the replication link of {name}");
            return Err(FaultError::NoReceipt { missing });
        }
        let heir = heir(site, victim).await?;
        Ok(format!(
            "{name} (pid {pid}) exited by signal 9; {} bytes held back on its replication link before \
             that; {} is primary of slot {} since at most {} ms after the kill",
            victim.held_back_bytes,
            heir.name(),
            victim.slot,
            at.elapsed().as_millis()
        ))
    }

    fn heal_after(&self) -> Option<Duration> {
        Some(self.restart_after)
    }

    async fn heal(&mut self, site: Site<'_>) -> Result<(), FaultError> {
        let Some(victim) = &self.victim else {
            return Ok(());
        };
        site.stack
            .links
            .clear(&links::redis_replication(victim.index))
            .await?;
        site.stack.redis.node(victim.index).process.start_again()?;
        Ok(())
    }

    /// The node is back as a replica in sync, and every node sees a whole cluster.
    async fn is_healed(&self, site: Site<'_>) -> Result<(), FaultError> {
        match site.stack.redis.missing().await? {
            None => Ok(()),
            Some(missing) => Err(FaultError::NoReceipt { missing }),
        }
    }
}

/// The node that took over.
async fn heir<'s>(site: Site<'s>, victim: &Victim) -> Result<&'s RedisNode, FaultError> {
    let none = || FaultError::NoReceipt {
        missing: format!(
            "no other node is primary of slot {} (a failover takes 2 to 5 s: is the node started \
             again too early?)",
            victim.slot
        ),
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

async fn held_back(site: Site<'_>, link: &str, before: u64) -> Result<u64, FaultError> {
    Ok(site.stack.links.traffic(link).await?.held_back_bytes() - before)
}

fn not_killed(victim: &str, how: &str) -> FaultError {
    FaultError::NotKilled {
        victim: victim.to_owned(),
        how: how.to_owned(),
    }
}
