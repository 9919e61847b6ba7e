//! Kills the broker while requests are on their way to it.
//!
//! What the service sends is swallowed first (answers still arrive), so that the kill meets half
//! messages without their end and sends without their answer.

use std::time::Duration;

use crate::environment::Ending;
use crate::environment::links::ROCKETMQ_BROKER;
use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, Need, kind};
use crate::faults::site::Site;
use crate::faults::toxics::Toxics;
use crate::proxy::toxic::{Effect, Stream};

kind! {
    /// Kills the broker (SIGKILL) while requests are on their way to it; started again when healed.
    pub struct BrokerKill {
        /// How long requests are swallowed before the kill, ms; answers still arrive.
        pub cut_requests_ms: u64 = 0,
    }
}

#[derive(Debug, Default)]
pub(crate) struct Killed {
    cut: Toxics,
    held_back_bytes: u64,
    ended: Option<(Ending, u32)>,
}

impl Kind for BrokerKill {
    type State = Killed;
    const NEEDS: &'static [Need] = &[Need::OwnServers];

    async fn applicable(&self, _: &mut Killed, site: Site<'_>) -> Result<String, FaultError> {
        Ok(format!(
            "broker ({}): requests of the service swallowed, kill -9 {} ms later",
            site.stack.rocketmq.broker_address, self.cut_requests_ms
        ))
    }

    async fn inject(&self, killed: &mut Killed, site: Site<'_>) -> Result<(), FaultError> {
        if self.cut_requests_ms > 0 {
            let (link, effect) = (ROCKETMQ_BROKER, Effect::Timeout { timeout: 0 });
            let cut = &mut killed.cut;
            cut.place(site, link, Stream::Upstream, effect, None)
                .await?;
            tokio::time::sleep(Duration::from_millis(self.cut_requests_ms)).await;
        }
        killed.held_back_bytes = killed.cut.traffic(site).await?.held_back_bytes();
        let broker = &site.stack.rocketmq.broker;
        let pid = broker.pid().unwrap_or_default();
        killed.ended = Some((broker.kill().await?, pid));
        Ok(())
    }

    async fn receipt(&self, killed: &mut Killed, _: Site<'_>) -> Result<String, FaultError> {
        let not_killed = |how: String| FaultError::NotKilled {
            victim: "the broker".to_owned(),
            how,
        };
        let (ending, pid) = killed
            .ended
            .ok_or_else(|| not_killed("never killed".to_owned()))?;
        if !ending.was_killed() {
            return Err(not_killed(ending.to_string()));
        }
        if self.cut_requests_ms > 0 && killed.held_back_bytes == 0 {
            let missing = "no request of the service was held back before the kill";
            return Err(FaultError::missing(missing));
        }
        Ok(format!(
            "broker (pid {pid}) exited by signal 9; {} bytes of requests held back before that",
            killed.held_back_bytes
        ))
    }

    async fn heal(&self, killed: &mut Killed, site: Site<'_>) -> Result<(), FaultError> {
        killed.cut.remove(site).await?;
        site.stack.rocketmq.broker.start_again().await?;
        Ok(())
    }

    /// It serves, and the name server sends clients to it.
    async fn is_healed(&self, _: &Killed, site: Site<'_>) -> Result<(), FaultError> {
        let serves = site.stack.rocketmq.broker_serves().await;
        serves.map_err(FaultError::missing)
    }
}
