//! Kills the broker while requests are on their way to it.
//!
//! What the service sends is swallowed first (answers still arrive), so that the kill meets half
//! messages without their end and sends without their answer.

use std::time::Duration;

use tokio::time::timeout;

use crate::environment::Ending;
use crate::environment::links::ROCKETMQ_BROKER;
use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, Need, kind};
use crate::faults::site::Site;
use crate::faults::toxics::Toxics;
use crate::proxy::ProxyKind;
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
    swallowed: Swallowed,
    ended: Option<(Ending, u32)>,
}

/// Proof that requests did not get through.
#[derive(Debug, Default)]
enum Swallowed {
    #[default]
    Nothing,
    /// By the built-in proxy, which counts.
    Bytes(u64),
    /// Toxiproxy does not count: a request of ours had no answer for so long.
    Probe(Duration),
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
            killed.swallowed = self.swallow(&mut killed.cut, site).await?;
        }
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
        let swallowed = match killed.swallowed {
            Swallowed::Nothing if self.cut_requests_ms > 0 => {
                let missing = "no request of the service was held back before the kill";
                return Err(FaultError::missing(missing));
            }
            Swallowed::Nothing => String::new(),
            Swallowed::Bytes(bytes) => format!("; {bytes} bytes of requests held back before that"),
            Swallowed::Probe(waited) => format!(
                "; a request through its link had no answer for {} ms before that",
                waited.as_millis()
            ),
        };
        Ok(format!("broker (pid {pid}) exited by signal 9{swallowed}"))
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

impl BrokerKill {
    /// Swallows requests for as long as was asked for.
    async fn swallow(&self, cut: &mut Toxics, site: Site<'_>) -> Result<Swallowed, FaultError> {
        let (upstream, effect) = (Stream::Upstream, Effect::Timeout { timeout: 0 });
        cut.place(site, ROCKETMQ_BROKER, upstream, effect, None)
            .await?;
        let lasts = Duration::from_millis(self.cut_requests_ms);
        if site.stack.links.kind().await? == ProxyKind::Toxiproxy {
            let answer = timeout(lasts, site.stack.rocketmq.answers_through_link()).await;
            return Ok(answer.map_or(Swallowed::Probe(lasts), |_| Swallowed::Nothing));
        }
        tokio::time::sleep(lasts).await;
        Ok(match cut.traffic(site).await?.held_back_bytes() {
            0 => Swallowed::Nothing,
            bytes => Swallowed::Bytes(bytes),
        })
    }
}
