//! Lets a Redis primary reach its memory limit: reads go on, writes are refused.

use redis::cmd;

use crate::drill::range::Count;
use crate::environment::RedisNode;
use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, kind};
use crate::faults::site::Site;

/// Below what any server uses.
const LIMIT_BYTES: &str = "1";
const LIMIT: &str = "maxmemory";
const POLICY: &str = "maxmemory-policy";

kind! {
    /// Lets the Redis primary of a SKU reach its memory limit: writes are answered OOM, nothing is evicted.
    pub struct RedisMemoryLimit {
        /// Number of the SKU, from 1.
        pub sku: Count,
    }
}

/// The node, its settings before, and how often it had answered OOM.
#[derive(Debug)]
pub(crate) struct Limited {
    index: usize,
    limit: String,
    policy: String,
    refused: u64,
}

type State = Option<Limited>;

impl Kind for RedisMemoryLimit {
    type State = State;

    async fn applicable(&self, state: &mut State, site: Site<'_>) -> Result<String, FaultError> {
        let (_, node) = site.primary_of(self.sku).await?;
        *state = Some(Limited {
            index: node.index,
            limit: node.setting(LIMIT).await?,
            policy: node.setting(POLICY).await?,
            refused: node.error_answers("OOM").await?,
        });
        let sku = site.sku(self.sku.get())?;
        Ok(format!(
            "{}, primary of SKU {sku}: memory limit reached",
            node.name()
        ))
    }

    async fn inject(&self, state: &mut State, site: Site<'_>) -> Result<(), FaultError> {
        let Some(limited) = state else {
            return Ok(());
        };
        set(
            site.stack.redis.node(limited.index),
            LIMIT_BYTES,
            "noeviction",
        )
        .await
    }

    async fn receipt(&self, state: &mut State, site: Site<'_>) -> Result<String, FaultError> {
        let Some(limited) = state else {
            return Err(FaultError::missing("no limit was set"));
        };
        let node = site.stack.redis.node(limited.index);
        match node.error_answers("OOM").await? - limited.refused {
            0 => Err(FaultError::missing(format!(
                "{} has refused no write",
                node.name()
            ))),
            count => Ok(format!("{} has refused {count} writes: OOM", node.name())),
        }
    }

    async fn heal(&self, state: &mut State, site: Site<'_>) -> Result<(), FaultError> {
        let Some(limited) = state else {
            return Ok(());
        };
        set(
            site.stack.redis.node(limited.index),
            &limited.limit,
            &limited.policy,
        )
        .await
    }

    async fn is_healed(&self, state: &State, site: Site<'_>) -> Result<(), FaultError> {
        let Some(limited) = state else {
            return Ok(());
        };
        let node = site.stack.redis.node(limited.index);
        let limit = node.setting(LIMIT).await?;
        if limit == limited.limit {
            return Ok(());
        }
        Err(FaultError::missing(format!(
            "the limit of {} is {limit} bytes",
            node.name()
        )))
    }
}

async fn set(node: &RedisNode, limit: &str, policy: &str) -> Result<(), FaultError> {
    let mut command = cmd("CONFIG");
    command
        .arg("SET")
        .arg(LIMIT)
        .arg(limit)
        .arg(POLICY)
        .arg(policy);
    Ok(node.query(&command).await?)
}
