//! A service node crashes between two of its steps, where a crash hurts most.

use std::time::Duration;

use crate::faults::downed::Downed;
use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, Need, kind};
use crate::faults::node::Node;
use crate::faults::site::Site;

kind! {
    /// Crashes a service node at a failpoint of its own, the next time it comes there; started again when healed.
    pub struct ServiceCrash {
        /// The failpoint, as the service calls it: `after_reserve` and so on.
        pub at: String,
        /// Number of the node, from 0.
        pub node: u64 = 0,
    }
}

/// From the last sign of life of a process to its end.
const DYING_TIMEOUT: Duration = Duration::from_secs(2);

/// The node, and its process when it was told to crash.
#[derive(Debug, Default)]
pub(crate) struct Doomed {
    downed: Downed,
    pid: u32,
}

impl ServiceCrash {
    async fn set(&self, site: Site<'_>, actions: &str) -> Result<(), FaultError> {
        let extra = [
            ("failpoint", self.at.clone()),
            ("actions", actions.to_owned()),
        ];
        let request = site.target.start.failpoint.as_ref();
        let node = Node(self.node);
        node.ask(site, "start.failpoint", request, &extra).await?;
        Ok(())
    }
}

impl Kind for ServiceCrash {
    type State = Doomed;
    const NEEDS: &'static [Need] = &[Need::OwnServers, Need::Failpoints];

    async fn applicable(&self, doomed: &mut Doomed, site: Site<'_>) -> Result<String, FaultError> {
        let server = Node(self.node).server(site)?;
        // Whether there is such a place.
        self.set(site, "off").await?;
        doomed.pid = server.pid().unwrap_or_default();
        let server = doomed.downed.victim.insert(server);
        Ok(format!("{}: crash at {}", server.component(), self.at))
    }

    /// Under load it crashes before it has answered.
    async fn inject(&self, doomed: &mut Doomed, site: Site<'_>) -> Result<(), FaultError> {
        match (self.set(site, "1*crash").await, &doomed.downed.victim) {
            (Err(_), Some(server)) if server.ended(DYING_TIMEOUT).await.is_some() => Ok(()),
            (told, _) => told,
        }
    }

    async fn receipt(&self, doomed: &mut Doomed, site: Site<'_>) -> Result<String, FaultError> {
        let Some(server) = &doomed.downed.victim else {
            return Err(FaultError::missing("no node was told to crash"));
        };
        let (name, at, pid) = (server.component(), &self.at, doomed.pid);
        match server.ending().await {
            None => {
                let missing = format!("{name} has not come to {at}");
                Err(FaultError::missing(missing))
            }
            Some(ending) if ending.was_killed() || ending.is_success() => {
                let missing = format!("{name} ended before it came to {at}: {ending}");
                Err(FaultError::missing(missing))
            }
            Some(ending) => {
                let how =
                    format!("{name} (pid {pid}) crashed at {at}: {ending}; it does not answer");
                doomed.downed.is_silent(site, how).await
            }
        }
    }

    async fn heal(&self, doomed: &mut Doomed, site: Site<'_>) -> Result<(), FaultError> {
        match &doomed.downed.victim {
            Some(server) if server.pid() == Some(doomed.pid) => self.set(site, "off").await,
            _ => doomed.downed.start_again().await,
        }
    }

    async fn is_healed(&self, doomed: &Doomed, site: Site<'_>) -> Result<(), FaultError> {
        doomed.downed.serves_again(site).await
    }
}
