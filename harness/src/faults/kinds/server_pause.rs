//! Freezes a server as a long garbage collection, a starved machine or a debugger does: its connections stay open,
//! and nobody is told.

use std::sync::Arc;

use crate::drill::range::Count;
use crate::environment::Server;
use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, Need, kind};
use crate::faults::servers::{ServerName, answers, serves};
use crate::faults::site::Site;

kind! {
    /// Freezes a server (SIGSTOP); it goes on when healed, with all that has piled up.
    pub struct ServerPause {
        /// `redis-primary` or `redis-replica` of the SKU, `redis-0`, `mysql`, `mysql-replica`, `rocketmq-broker`,
        /// `rocketmq-namesrv`, `service-0` and so on.
        pub server: ServerName,
        /// Number of the SKU whose Redis primary or replica is meant, from 1.
        pub sku: Count = Count::new(1).expect("1 is in range"),
    }
}

type Victim = Option<Arc<Server>>;

impl Kind for ServerPause {
    type State = Victim;
    const NEEDS: &'static [Need] = &[Need::OwnServers];

    async fn applicable(&self, victim: &mut Victim, site: Site<'_>) -> Result<String, FaultError> {
        let server = self.server.find(site, self.sku).await?;
        let what = format!("{}: frozen", server.component());
        *victim = Some(server);
        Ok(what)
    }

    async fn inject(&self, victim: &mut Victim, _: Site<'_>) -> Result<(), FaultError> {
        match victim {
            Some(server) => Ok(server.pause().await?),
            None => Ok(()),
        }
    }

    /// It is stopped, and a question of our own finds no answer.
    async fn receipt(&self, victim: &mut Victim, site: Site<'_>) -> Result<String, FaultError> {
        let Some(server) = victim else {
            return Err(FaultError::missing("nothing was frozen"));
        };
        let name = server.component();
        if !server.is_paused() {
            return Err(FaultError::missing(format!("{name} is not frozen")));
        }
        match answers(site, server).await {
            Ok(()) => Err(FaultError::missing(format!("{name} still answers"))),
            Err(silence) => {
                let pid = server.pid().unwrap_or_default();
                Ok(format!("{name} (pid {pid}) is stopped; {silence}"))
            }
        }
    }

    async fn heal(&self, victim: &mut Victim, _: Site<'_>) -> Result<(), FaultError> {
        match victim {
            Some(server) => Ok(server.resume().await?),
            None => Ok(()),
        }
    }

    async fn is_healed(&self, victim: &Victim, site: Site<'_>) -> Result<(), FaultError> {
        match victim {
            Some(server) => serves(site, server).await,
            None => Ok(()),
        }
    }
}
