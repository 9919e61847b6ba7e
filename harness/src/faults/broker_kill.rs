//! Kills the broker while requests are on their way to it.
//!
//! What the service sends is swallowed first (answers still arrive), so that the kill meets half
//! messages without their end and sends without their answer.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use super::error::FaultError;
use super::injection::{Injection, Site};
use crate::environment::links::ROCKETMQ_BROKER;
use crate::proxy::toxic::Stream;

#[derive(Debug)]
pub(super) struct BrokerKill {
    cut_requests: Duration,
    restart_after: Duration,
    held_back_bytes: u64,
    killed: Option<(ExitStatus, u32)>,
}

impl BrokerKill {
    pub fn new(cut_requests_ms: u64, restart_after_ms: u64) -> Self {
        Self {
            cut_requests: Duration::from_millis(cut_requests_ms),
            restart_after: Duration::from_millis(restart_after_ms),
            held_back_bytes: 0,
            killed: None,
        }
    }
}

impl Injection for BrokerKill {
    async fn applicable(&mut self, site: Site<'_>) -> Result<String, FaultError> {
        Ok(format!(
            "broker ({}): requests of the service swallowed, kill -9 {} ms later",
            site.stack.rocketmq.broker_address,
            self.cut_requests.as_millis()
        ))
    }

    async fn inject(&mut self, site: Site<'_>) -> Result<(), FaultError> {
        let links = &site.stack.links;
        let before = links
            .traffic(ROCKETMQ_BROKER)
            .await?
            .upstream
            .held_back_bytes;
        if !self.cut_requests.is_zero() {
            links.black_hole(ROCKETMQ_BROKER, Stream::Upstream).await?;
            tokio::time::sleep(self.cut_requests).await;
        }
        let after = links
            .traffic(ROCKETMQ_BROKER)
            .await?
            .upstream
            .held_back_bytes;
        self.held_back_bytes = after - before;
        let broker = &site.stack.rocketmq.broker;
        let pid = broker.pid().unwrap_or_default();
        self.killed = Some((broker.kill().await?, pid));
        Ok(())
    }

    async fn receipt(&mut self, _: Site<'_>) -> Result<String, FaultError> {
        let victim = || "the broker".to_owned();
        let Some((status, pid)) = self.killed else {
            return Err(FaultError::NotKilled {
                victim: victim(),
                how: "never killed".to_owned(),
            });
        };
        if status.signal() != Some(9) {
            return Err(FaultError::NotKilled {
                victim: victim(),
                how: status.to_string(),
            });
        }
        if !self.cut_requests.is_zero() && self.held_back_bytes == 0 {
            let missing = "no request of the service was held back before the kill".to_owned();
            return Err(FaultError::NoReceipt { missing });
        }
        Ok(format!(
            "broker (pid {pid}) exited by signal 9; {} bytes of requests held back before that",
            self.held_back_bytes
        ))
    }

    fn heal_after(&self) -> Option<Duration> {
        Some(self.restart_after)
    }

    async fn heal(&mut self, site: Site<'_>) -> Result<(), FaultError> {
        site.stack.links.clear(ROCKETMQ_BROKER).await?;
        site.stack.rocketmq.broker.start_again()?;
        Ok(())
    }

    /// It serves, and the name server sends clients to it.
    async fn is_healed(&self, site: Site<'_>) -> Result<(), FaultError> {
        let serves = site.stack.rocketmq.broker_serves().await;
        serves.map_err(|missing| FaultError::NoReceipt { missing })
    }
}
