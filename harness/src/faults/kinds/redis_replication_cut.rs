//! Lets a replica fall behind while its primary goes on.

use std::time::Instant;

use crate::drill::range::Count;
use crate::environment::{links, pings_bytes};
use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, Need, kind};
use crate::faults::site::Site;
use crate::faults::toxics::Toxics;

kind! {
    /// Cuts the replication of the Redis primary of a SKU, so that its replica falls behind.
    pub struct RedisReplicationCut {
        /// Number of the SKU, from 1.
        pub sku: Count,
    }
}

#[derive(Debug, Default)]
pub(crate) struct Cut {
    toxics: Toxics,
    /// Primary, replica, what the replica had received, and when.
    pair: Option<(usize, usize, u64, Instant)>,
}

impl Kind for RedisReplicationCut {
    type State = Cut;
    const NEEDS: &'static [Need] = &[Need::links("redis-replication-*")];

    async fn applicable(&self, cut: &mut Cut, site: Site<'_>) -> Result<String, FaultError> {
        let (_, primary) = site.primary_of(self.sku).await?;
        let replica = site.replica_of(self.sku).await?;
        cut.pair = Some((primary.index, replica.index, 0, Instant::now()));
        Ok(format!(
            "{} to {}: replication cut",
            primary.name(),
            replica.name()
        ))
    }

    async fn inject(&self, cut: &mut Cut, site: Site<'_>) -> Result<(), FaultError> {
        let Some((primary, replica, received, since)) = &mut cut.pair else {
            return Ok(());
        };
        let link = links::redis_replication(*primary);
        *since = Instant::now();
        cut.toxics.black_hole(site, &link).await?;
        *received = site.stack.redis.node(*replica).replication_offset().await?;
        Ok(())
    }

    /// Clients have written on to the primary, and nothing of it has arrived.
    async fn receipt(&self, cut: &mut Cut, site: Site<'_>) -> Result<String, FaultError> {
        let Some((primary, replica, received, since)) = cut.pair else {
            return Err(FaultError::missing("no replication was cut"));
        };
        let (primary, replica) = (
            site.stack.redis.node(primary),
            site.stack.redis.node(replica),
        );
        let (sent, arrived) = (
            primary.replication_offset().await?,
            replica.replication_offset().await?,
        );
        if arrived > received || sent <= received + pings_bytes(since.elapsed()) {
            return Err(FaultError::missing(format!(
                "{} stands at {sent}, {} at {arrived}, which was at {received} when it was cut",
                primary.name(),
                replica.name()
            )));
        }
        Ok(format!(
            "{} is {} bytes behind {}, and stands still",
            replica.name(),
            sent - arrived,
            primary.name()
        ))
    }

    async fn heal(&self, cut: &mut Cut, site: Site<'_>) -> Result<(), FaultError> {
        cut.toxics.remove(site).await
    }

    async fn is_healed(&self, cut: &Cut, site: Site<'_>) -> Result<(), FaultError> {
        cut.toxics.are_gone(site).await?;
        site.redis_is_whole().await
    }
}
