//! A server that a fault has taken down: whatever the way, it must be silent, and is started again in one way.

use std::sync::Arc;

use super::error::FaultError;
use super::servers::{ServerName, answers, serves};
use super::site::Site;
use crate::drill::range::Count;
use crate::environment::{Ending, Server};

/// What is known of it, step by step.
#[derive(Debug, Default)]
pub(crate) struct Downed {
    pub victim: Option<Arc<Server>>,
    /// How it ended, and its process id before.
    pub ended: Option<(Ending, u32)>,
}

impl Downed {
    /// The name of the server that will be taken down.
    pub async fn find(
        &mut self,
        server: &ServerName,
        site: Site<'_>,
        sku: Count,
    ) -> Result<&str, FaultError> {
        let victim = server.find(site, sku).await?;
        Ok(self.victim.insert(victim).component())
    }

    /// It does not answer; `how` tells how it ended.
    pub async fn is_silent(&self, site: Site<'_>, how: String) -> Result<String, FaultError> {
        match &self.victim {
            Some(victim) if answers(site, victim).await.is_ok() => {
                let missing = format!("{} still answers", victim.component());
                Err(FaultError::missing(missing))
            }
            _ => Ok(how),
        }
    }

    pub async fn start_again(&self) -> Result<(), FaultError> {
        if let Some(victim) = &self.victim {
            victim.start_again().await?;
        }
        Ok(())
    }

    /// It answers again, and what it belongs to is whole.
    pub async fn serves_again(&self, site: Site<'_>) -> Result<(), FaultError> {
        match &self.victim {
            Some(victim) => serves(site, victim).await,
            None => Ok(()),
        }
    }
}
