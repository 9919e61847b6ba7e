//! Nobody can look up where the brokers are. Who knows one already goes on with it.

use crate::environment::Ending;
use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, Need, kind};
use crate::faults::site::Site;

kind! {
    /// Kills RocketMQ's name server (SIGKILL), so that nobody can look up the broker; started again when healed, when
    /// the broker has registered itself anew.
    pub struct NameServerKill {}
}

/// Its process id, and how it ended.
type Killed = Option<(u32, Ending)>;

impl Kind for NameServerKill {
    type State = Killed;
    const NEEDS: &'static [Need] = &[Need::OwnServers];

    async fn applicable(&self, _: &mut Killed, site: Site<'_>) -> Result<String, FaultError> {
        let address = site.stack.rocketmq.name_server_address;
        Ok(format!("name server ({address}): kill -9"))
    }

    async fn inject(&self, killed: &mut Killed, site: Site<'_>) -> Result<(), FaultError> {
        let name_server = &site.stack.rocketmq.name_server;
        let pid = name_server.pid().unwrap_or_default();
        *killed = Some((pid, name_server.kill().await?));
        Ok(())
    }

    async fn receipt(&self, killed: &mut Killed, site: Site<'_>) -> Result<String, FaultError> {
        let missing = || FaultError::missing("the name server was never killed");
        let (pid, ending) = killed.ok_or_else(missing)?;
        if !ending.was_killed() {
            return Err(FaultError::NotKilled {
                victim: "the name server".to_owned(),
                how: ending.to_string(),
            });
        }
        match site.stack.rocketmq.name_server_serves().await {
            Ok(()) => Err(FaultError::missing("lookups are answered all the same")),
            Err(error) => Ok(format!(
                "name server (pid {pid}) exited by signal 9; a lookup fails: {error}"
            )),
        }
    }

    async fn heal(&self, _: &mut Killed, site: Site<'_>) -> Result<(), FaultError> {
        Ok(site.stack.rocketmq.name_server.start_again().await?)
    }

    /// It answers lookups, and with the broker's address.
    async fn is_healed(&self, _: &Killed, site: Site<'_>) -> Result<(), FaultError> {
        let serves = site.stack.rocketmq.broker_serves().await;
        serves.map_err(FaultError::missing)
    }
}
