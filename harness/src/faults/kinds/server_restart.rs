//! Takes a server down in order, as an upgrade does.

use std::time::Duration;

use crate::drill::range::Count;
use crate::faults::downed::Downed;
use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, Need, kind};
use crate::faults::servers::ServerName;
use crate::faults::site::Site;

kind! {
    /// Ends a server in order (SIGTERM; SIGKILL when it takes too long); started again when healed.
    pub struct ServerRestart {
        /// `redis-primary` or `redis-replica` of the SKU, `redis-0`, `mysql`, `mysql-replica`, `rocketmq-broker`,
        /// `rocketmq-namesrv`, `service-0` and so on.
        pub server: ServerName,
        /// Number of the SKU whose Redis primary or replica is meant, from 1.
        pub sku: Count = Count::new(1).expect("1 is in range"),
        /// What it has to end by itself, ms.
        pub grace_ms: u64 = 10_000,
    }
}

impl Kind for ServerRestart {
    type State = Downed;
    const NEEDS: &'static [Need] = &[Need::OwnServers];

    async fn applicable(&self, downed: &mut Downed, site: Site<'_>) -> Result<String, FaultError> {
        let name = downed.find(&self.server, site, self.sku).await?;
        Ok(format!("{name}: ended in order"))
    }

    async fn inject(&self, downed: &mut Downed, _: Site<'_>) -> Result<(), FaultError> {
        if let Some(victim) = &downed.victim {
            let pid = victim.pid().unwrap_or_default();
            victim.terminate(Duration::from_millis(self.grace_ms)).await;
            downed.ended = victim.ending().await.map(|ending| (ending, pid));
        }
        Ok(())
    }

    async fn receipt(&self, downed: &mut Downed, site: Site<'_>) -> Result<String, FaultError> {
        let (Some(victim), Some((ending, pid))) = (&downed.victim, downed.ended) else {
            return Err(FaultError::missing("it lives on"));
        };
        let name = victim.component();
        let how = format!("{name} (pid {pid}) ended: {ending}; it does not answer");
        downed.is_silent(site, how).await
    }

    async fn heal(&self, downed: &mut Downed, _: Site<'_>) -> Result<(), FaultError> {
        downed.start_again().await
    }

    async fn is_healed(&self, downed: &Downed, site: Site<'_>) -> Result<(), FaultError> {
        downed.serves_again(site).await
    }
}
