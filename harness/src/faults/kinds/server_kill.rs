//! Kills a server as the kernel's out-of-memory killer would.

use crate::drill::range::Count;
use crate::faults::downed::Downed;
use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, Need, kind};
use crate::faults::servers::ServerName;
use crate::faults::site::Site;

kind! {
    /// Kills a server (SIGKILL); started again when healed.
    pub struct ServerKill {
        /// `redis-primary` or `redis-replica` of the SKU, `redis-0`, `mysql`, `mysql-replica`, `rocketmq-broker`,
        /// `rocketmq-namesrv`, `service-0` and so on.
        pub server: ServerName,
        /// Number of the SKU whose Redis primary or replica is meant, from 1.
        pub sku: Count = Count::new(1).expect("1 is in range"),
    }
}

impl Kind for ServerKill {
    type State = Downed;
    const NEEDS: &'static [Need] = &[Need::OwnServers];

    async fn applicable(&self, downed: &mut Downed, site: Site<'_>) -> Result<String, FaultError> {
        let name = downed.find(&self.server, site, self.sku).await?;
        Ok(format!("{name}: kill -9"))
    }

    async fn inject(&self, downed: &mut Downed, _: Site<'_>) -> Result<(), FaultError> {
        if let Some(victim) = &downed.victim {
            let pid = victim.pid().unwrap_or_default();
            downed.ended = Some((victim.kill().await?, pid));
        }
        Ok(())
    }

    async fn receipt(&self, downed: &mut Downed, site: Site<'_>) -> Result<String, FaultError> {
        let (Some(victim), Some((ending, pid))) = (&downed.victim, downed.ended) else {
            return Err(FaultError::missing("nothing was killed"));
        };
        let name = victim.component();
        if !ending.was_killed() {
            return Err(FaultError::NotKilled {
                victim: name.to_owned(),
                how: ending.to_string(),
            });
        }
        let how = format!("{name} (pid {pid}) exited by signal 9, and does not answer");
        downed.is_silent(site, how).await
    }

    async fn heal(&self, downed: &mut Downed, _: Site<'_>) -> Result<(), FaultError> {
        downed.start_again().await
    }

    async fn is_healed(&self, downed: &Downed, site: Site<'_>) -> Result<(), FaultError> {
        downed.serves_again(site).await
    }
}
