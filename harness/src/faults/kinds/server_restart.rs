//! Takes a server down in order, as an upgrade does.

use std::sync::Arc;
use std::time::Duration;

use crate::drill::range::Count;
use crate::environment::{Ending, Server};
use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, Need, kind};
use crate::faults::servers::{ServerName, answers, serves};
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

#[derive(Debug, Default)]
pub(crate) struct Ended {
    victim: Option<Arc<Server>>,
    ended: Option<(Ending, u32)>,
}

impl Kind for ServerRestart {
    type State = Ended;
    const NEEDS: &'static [Need] = &[Need::OwnServers];

    async fn applicable(&self, ended: &mut Ended, site: Site<'_>) -> Result<String, FaultError> {
        let victim = self.server.find(site, self.sku).await?;
        let what = format!("{}: ended in order", victim.component());
        ended.victim = Some(victim);
        Ok(what)
    }

    async fn inject(&self, ended: &mut Ended, _: Site<'_>) -> Result<(), FaultError> {
        if let Some(victim) = &ended.victim {
            let pid = victim.pid().unwrap_or_default();
            victim.terminate(Duration::from_millis(self.grace_ms)).await;
            ended.ended = victim.ending().await.map(|ending| (ending, pid));
        }
        Ok(())
    }

    async fn receipt(&self, ended: &mut Ended, site: Site<'_>) -> Result<String, FaultError> {
        let (Some(victim), Some((ending, pid))) = (&ended.victim, ended.ended) else {
            return Err(FaultError::missing("it lives on"));
        };
        let name = victim.component();
        match answers(site, victim).await {
            Ok(()) => Err(FaultError::missing(format!("{name} still answers"))),
            Err(_) => Ok(format!(
                "{name} (pid {pid}) ended: {ending}; it does not answer"
            )),
        }
    }

    async fn heal(&self, ended: &mut Ended, _: Site<'_>) -> Result<(), FaultError> {
        if let Some(victim) = &ended.victim {
            victim.start_again().await?;
        }
        Ok(())
    }

    async fn is_healed(&self, ended: &Ended, site: Site<'_>) -> Result<(), FaultError> {
        match &ended.victim {
            Some(victim) => serves(site, victim).await,
            None => Ok(()),
        }
    }
}
