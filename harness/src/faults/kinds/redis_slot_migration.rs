//! Moves a SKU's slot to another primary while it sells, and back: rebalancing, as an operator does it.
//!
//! Half way its keys are in two places: clients are answered ASK, and TRYAGAIN where a script wants keys of both.

use std::time::Duration;

use redis::cmd;

use crate::drill::range::Count;
use crate::environment::RedisNode;
use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, kind};
use crate::faults::site::Site;

/// What a client is answered that does not know where a slot is.
const REDIRECTIONS: [&str; 3] = ["ASK", "TRYAGAIN", "MOVED"];
/// More than a SKU has.
const KEYS_MAX: u32 = 1_000;
const MIGRATE_TIMEOUT_MS: u32 = 2_000;

kind! {
    /// Moves the slot of a SKU with its keys to another Redis primary while it sells, and back when healed.
    pub struct RedisSlotMigration {
        /// Number of the SKU, from 1.
        pub sku: Count,
        /// How long half of its keys have moved and half have not, ms.
        pub half_way_ms: u64 = 300,
    }
}

#[derive(Debug, Default)]
pub(crate) struct Migration {
    way: Option<Way>,
    moved_keys: usize,
    redirected_before: [u64; 3],
}

/// A slot, and the primaries that have it and get it.
#[derive(Debug, Clone, Copy)]
struct Way {
    slot: u16,
    from: usize,
    to: usize,
}

impl Way {
    fn back(self) -> Self {
        Self {
            from: self.to,
            to: self.from,
            ..self
        }
    }
}

impl Kind for RedisSlotMigration {
    type State = Migration;

    async fn applicable(
        &self,
        migration: &mut Migration,
        site: Site<'_>,
    ) -> Result<String, FaultError> {
        let (slot, from) = site.primary_of(self.sku).await?;
        let primaries = primaries(site).await;
        let to = primaries.iter().find(|node| node.index != from.index);
        let to = to.ok_or_else(|| FaultError::missing("no second primary"))?;
        migration.way = Some(Way {
            slot,
            from: from.index,
            to: to.index,
        });
        Ok(format!(
            "slot {slot}: moves from {} to {}",
            from.name(),
            to.name()
        ))
    }

    async fn inject(&self, migration: &mut Migration, site: Site<'_>) -> Result<(), FaultError> {
        if let Some(way) = migration.way {
            migration.redirected_before = redirected(site, way).await?;
            let half_way = Duration::from_millis(self.half_way_ms);
            migration.moved_keys = migrate(site, way, half_way).await?;
        }
        Ok(())
    }

    async fn receipt(
        &self,
        migration: &mut Migration,
        site: Site<'_>,
    ) -> Result<String, FaultError> {
        let Some(way) = migration.way else {
            return Err(FaultError::missing("no slot was moved"));
        };
        let to = site.stack.redis.node(way.to);
        if migration.moved_keys == 0 || !to.myself().await?.owns(way.slot) {
            let missing = format!("{} does not hold slot {} with keys", to.name(), way.slot);
            return Err(FaultError::missing(missing));
        }
        let mut answers = redirected(site, way).await?;
        for (answers, before) in answers.iter_mut().zip(migration.redirected_before) {
            *answers -= before;
        }
        if answers == [0; 3] {
            return Err(FaultError::missing("no client was redirected"));
        }
        let answers: Vec<String> = answers
            .iter()
            .zip(REDIRECTIONS)
            .map(|(count, name)| format!("{name} {count} times"))
            .collect();
        Ok(format!(
            "slot {} and its {} keys are on {}; clients were answered {}",
            way.slot,
            migration.moved_keys,
            to.name(),
            answers.join(", ")
        ))
    }

    async fn heal(&self, migration: &mut Migration, site: Site<'_>) -> Result<(), FaultError> {
        if let Some(way) = migration.way {
            migrate(site, way.back(), Duration::ZERO).await?;
        }
        Ok(())
    }

    async fn is_healed(&self, migration: &Migration, site: Site<'_>) -> Result<(), FaultError> {
        if let Some(way) = migration.way {
            let home = site.stack.redis.node(way.from);
            if !home.myself().await?.owns(way.slot) {
                let missing = format!("{} has not got slot {} back", home.name(), way.slot);
                return Err(FaultError::missing(missing));
            }
        }
        site.redis_is_whole().await
    }
}

/// Those that answer.
async fn primaries(site: Site<'_>) -> Vec<&RedisNode> {
    let mut primaries = Vec::new();
    for node in &site.stack.redis.nodes {
        if node.myself().await.is_ok_and(|myself| myself.is_primary) {
            primaries.push(node);
        }
    }
    primaries
}

/// How often the two nodes have redirected a client so far.
async fn redirected(site: Site<'_>, way: Way) -> Result<[u64; 3], FaultError> {
    let mut counts = [0; 3];
    for index in [way.from, way.to] {
        for (count, name) in counts.iter_mut().zip(REDIRECTIONS) {
            *count += site.stack.redis.node(index).error_answers(name).await?;
        }
    }
    Ok(counts)
}

/// Moves the slot, or what is left of it to move: it may have been broken off at any step before. Returns how many keys
/// moved. The steps are those of the cluster specification ("Moving slots", `redis-cli --cluster reshard`).
async fn migrate(site: Site<'_>, way: Way, half_way: Duration) -> Result<usize, FaultError> {
    let cluster = &site.stack.redis;
    let (from, to) = (cluster.node(way.from), cluster.node(way.to));
    let (from_id, to_id) = (from.myself().await?.id, to.myself().await?.id);
    if !to.myself().await?.owns(way.slot) {
        set_slot(to, way.slot, "IMPORTING", &from_id).await?;
        set_slot(from, way.slot, "MIGRATING", &to_id).await?;
    }
    let mut moved = 0;
    loop {
        let keys: Vec<String> = from
            .query(
                cmd("CLUSTER")
                    .arg("GETKEYSINSLOT")
                    .arg(way.slot)
                    .arg(KEYS_MAX),
            )
            .await?;
        if keys.is_empty() {
            break;
        }
        let some = if moved == 0 {
            &keys[..keys.len().div_ceil(2)]
        } else {
            &keys
        };
        move_keys(from, to, some).await?;
        if moved == 0 {
            tokio::time::sleep(half_way).await;
        }
        moved += some.len();
    }
    // The new owner first: the old one would otherwise send clients to a node that refuses.
    set_slot(to, way.slot, "NODE", &to_id).await?;
    for node in primaries(site).await {
        set_slot(node, way.slot, "NODE", &to_id).await?;
    }
    Ok(moved)
}

async fn set_slot(node: &RedisNode, slot: u16, state: &str, id: &str) -> Result<(), FaultError> {
    let mut command = cmd("CLUSTER");
    command.arg("SETSLOT").arg(slot).arg(state).arg(id);
    Ok(node.query(&command).await?)
}

async fn move_keys(from: &RedisNode, to: &RedisNode, keys: &[String]) -> Result<(), FaultError> {
    let mut command = cmd("MIGRATE");
    let address = to.address();
    command.arg(address.ip().to_string()).arg(address.port());
    command
        .arg("")
        .arg(0)
        .arg(MIGRATE_TIMEOUT_MS)
        .arg("KEYS")
        .arg(keys);
    Ok(from.query(&command).await?)
}
