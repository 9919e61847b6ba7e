//! Kills a server as the kernel's out-of-memory killer would.

use std::sync::Arc;

use crate::drill::range::Count;
use crate::environment::{Ending, Server};
use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, Need, kind};
use crate::faults::servers::{ServerName, answers, serves};
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

#[derive(Debug, Default)]
pub(crate) struct Killed {
    victim: Option<Arc<Server>>,
    ended: Option<(Ending, u32)>,
}

impl Kind for ServerKill {
    type State = Killed;
    const NEEDS: &'static [Need] = &[Need::OwnServers];

    async fn applicable(&self, killed: &mut Killed, site: Site<'_>) -> Result<String, FaultError> {
        let victim = self.server.find(site, self.sku).await?;
        let what = format!("{}: kill -9", victim.component());
        killed.victim = Some(victim);
        Ok(what)
    }

    async fn inject(&self, killed: &mut Killed, _: Site<'_>) -> Result<(), FaultError> {
        if let Some(victim) = &killed.victim {
            let pid = victim.pid().unwrap_or_default();
            killed.ended = Some((victim.kill().await?, pid));
        }
        Ok(())
    }

    async fn receipt(&self, killed: &mut Killed, site: Site<'_>) -> Result<String, FaultError> {
        let (Some(victim), Some((ending, pid))) = (&killed.victim, killed.ended) else {
            return Err(FaultError::missing("nothing was killed"));
        };
        let name = victim.component();
        if !ending.was_killed() {
            return Err(FaultError::NotKilled {
                victim: name.to_owned(),
                how: ending.to_string(),
            });
        }
        match answers(site, victim).await {
            Ok(()) => Err(FaultError::missing(format!("{name} still answers"))),
            Err(_) => Ok(format!(
                "{name} (pid {pid}) exited by signal 9, and does not answer"
            )),
        }
    }

    async fn heal(&self, killed: &mut Killed, _: Site<'_>) -> Result<(), FaultError> {
        if let Some(victim) = &killed.victim {
            victim.start_again().await?;
        }
        Ok(())
    }

    async fn is_healed(&self, killed: &Killed, site: Site<'_>) -> Result<(), FaultError> {
        match &killed.victim {
            Some(victim) => serves(site, victim).await,
            None => Ok(()),
        }
    }
}
