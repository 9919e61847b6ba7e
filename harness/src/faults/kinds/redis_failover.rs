//! Lets the replica of a SKU take over in order, as before an upgrade: no write is lost, but every client must notice.

use std::time::{Duration, Instant};

use redis::cmd;

use crate::drill::range::Count;
use crate::environment::RedisNode;
use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, kind};
use crate::faults::site::Site;

/// A manual failover that is not over by then has failed; asking sooner would begin it anew.
const ASK_AGAIN_AFTER: Duration = Duration::from_secs(6);

kind! {
    /// Swaps the Redis primary of a SKU with its replica (CLUSTER FAILOVER), and back when healed.
    pub struct RedisFailover {
        /// Number of the SKU, from 1.
        pub sku: Count,
    }
}

#[derive(Debug, Default)]
pub(crate) struct Swap {
    /// Primary and replica as they were, and the slot.
    pair: Option<(usize, usize, u16)>,
    begun: Option<Instant>,
    asked_back: Option<Instant>,
}

impl Kind for RedisFailover {
    type State = Swap;

    async fn applicable(&self, swap: &mut Swap, site: Site<'_>) -> Result<String, FaultError> {
        let (slot, primary) = site.primary_of(self.sku).await?;
        let replica = site.replica_of(self.sku).await?;
        swap.pair = Some((primary.index, replica.index, slot));
        Ok(format!(
            "{}: takes over from {}",
            replica.name(),
            primary.name()
        ))
    }

    async fn inject(&self, swap: &mut Swap, site: Site<'_>) -> Result<(), FaultError> {
        if let Some((_, replica, _)) = swap.pair {
            swap.begun = Some(Instant::now());
            take_over(site.stack.redis.node(replica)).await?;
        }
        Ok(())
    }

    async fn receipt(&self, swap: &mut Swap, site: Site<'_>) -> Result<String, FaultError> {
        let (Some((primary, replica, slot)), Some(begun)) = (swap.pair, swap.begun) else {
            return Err(FaultError::missing("no failover was asked for"));
        };
        let (primary, replica) = (
            site.stack.redis.node(primary),
            site.stack.redis.node(replica),
        );
        if primary.myself().await?.is_primary || !replica.myself().await?.owns(slot) {
            let missing = format!("{} has not taken over slot {slot} yet", replica.name());
            return Err(FaultError::missing(missing));
        }
        Ok(format!(
            "{} is primary of slot {slot} since at most {} ms after it was told to be, {} its replica",
            replica.name(),
            begun.elapsed().as_millis(),
            primary.name()
        ))
    }

    async fn heal(&self, swap: &mut Swap, site: Site<'_>) -> Result<(), FaultError> {
        let (Some((primary, ..)), Some(_)) = (swap.pair, swap.begun) else {
            return Ok(());
        };
        let primary = site.stack.redis.node(primary);
        let is_asked = swap
            .asked_back
            .is_some_and(|at| at.elapsed() < ASK_AGAIN_AFTER);
        if !is_asked && !primary.myself().await?.is_primary {
            take_over(primary).await?;
            swap.asked_back = Some(Instant::now());
        }
        Ok(())
    }

    async fn is_healed(&self, swap: &Swap, site: Site<'_>) -> Result<(), FaultError> {
        if let Some((primary, _, slot)) = swap.pair {
            let primary = site.stack.redis.node(primary);
            if !primary.myself().await?.owns(slot) {
                let missing = format!("{} has not got slot {slot} back", primary.name());
                return Err(FaultError::missing(missing));
            }
        }
        site.redis_is_whole().await
    }
}

async fn take_over(replica: &RedisNode) -> Result<(), FaultError> {
    Ok(replica.query(cmd("CLUSTER").arg("FAILOVER")).await?)
}
