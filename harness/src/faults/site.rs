//! Where faults are injected, and what their steps may ask it.

use std::net::SocketAddr;
use std::sync::Arc;

use super::error::FaultError;
use super::sku_command::SkuCommand;
use crate::drill::plan::Sku;
use crate::drill::range::Count;
use crate::environment::{MysqlReplica, RedisNode, Server, Stack};
use crate::target::Target;
use crate::target::template::{Variables, fill};

/// The stack, the target, and the sale that goes on there.
#[derive(Debug, Clone, Copy)]
pub struct Site<'s> {
    pub stack: &'s Stack,
    pub target: &'s Target,
    /// What the target's commands may name: the stack's and the run's variables.
    pub variables: &'s Variables,
    /// What is on sale; faults name SKUs by number, from 1.
    pub skus: &'s [Sku],
}

impl<'s> Site<'s> {
    /// # Errors
    /// There is no SKU of that number.
    pub(super) fn sku(self, number: u32) -> Result<&'s str, FaultError> {
        self.skus
            .get(number as usize - 1)
            .map(|sku| sku.id.as_str())
            .ok_or(FaultError::NoSku {
                number,
                skus: self.skus.len(),
            })
    }

    /// Fills a template of the target file; `field` is its name there, `extra` are variables beside the stack's and
    /// the run's.
    ///
    /// # Errors
    /// It names a variable that is not known.
    pub(super) fn fill(
        self,
        field: &'static str,
        template: &str,
        extra: &[(&str, String)],
    ) -> Result<String, FaultError> {
        fill(template, &self.variables_and(extra)).map_err(|source| FaultError::Template {
            command: field,
            source,
        })
    }

    /// The stack's and the run's variables, and `extra`.
    pub(super) fn variables_and(self, extra: &[(&str, String)]) -> Variables {
        let mut variables = self.variables.clone();
        let extra = extra.iter().cloned();
        variables.extend(extra.map(|(name, value)| (name.to_owned(), value)));
        variables
    }

    /// # Errors
    /// No server is called that.
    pub(super) fn server(self, name: &str) -> Result<Arc<Server>, FaultError> {
        let servers = self.stack.servers();
        let found = servers.iter().find(|server| server.component() == name);
        found.cloned().ok_or_else(|| {
            let there_are: Vec<&str> = servers.iter().map(|server| server.component()).collect();
            FaultError::NoServer {
                name: name.to_owned(),
                there_are: there_are.join(", "),
            }
        })
    }

    /// The Redis primary of the SKU's keys, and their slot.
    pub(super) async fn primary_of(self, sku: Count) -> Result<(u16, &'s RedisNode), FaultError> {
        let sku = self.sku(sku.get())?;
        let available = SkuCommand::available(self, sku)?;
        let slot = self.stack.redis.slot_of(available.key()).await?;
        Ok((slot, self.stack.redis.primary_of_slot(slot).await?))
    }

    /// A replica of that primary.
    pub(super) async fn replica_of(self, sku: Count) -> Result<&'s RedisNode, FaultError> {
        let (_, primary) = self.primary_of(sku).await?;
        let id = primary.myself().await?.id;
        for node in &self.stack.redis.nodes {
            if node.server.is_alive() && node.myself().await?.primary_id.as_ref() == Some(&id) {
                return Ok(node);
            }
        }
        let missing = format!("{} has no replica", primary.name());
        Err(FaultError::missing(missing))
    }

    /// # Errors
    /// The stack has none.
    pub(super) fn mysql_replica(self) -> Result<&'s MysqlReplica, FaultError> {
        let replica = self.stack.mysql_replica.as_ref();
        replica.ok_or_else(|| FaultError::missing("MySQL has no replica"))
    }

    /// Every node is up, and every replica in sync; the error says what is missing.
    pub(super) async fn redis_is_whole(self) -> Result<(), FaultError> {
        let missing = self.stack.redis.missing().await?;
        missing.map_or(Ok(()), |missing| Err(FaultError::missing(missing)))
    }

    /// Where a link listens.
    pub(super) async fn listener(self, link: &str) -> Result<SocketAddr, FaultError> {
        let view = self.stack.links.proxy(link).await?;
        address(link, &view.listen)
    }

    /// Where a link leads.
    pub(super) async fn upstream(self, link: &str) -> Result<SocketAddr, FaultError> {
        let view = self.stack.links.proxy(link).await?;
        address(link, &view.upstream)
    }
}

fn address(link: &str, text: &str) -> Result<SocketAddr, FaultError> {
    let strange = |_| FaultError::missing(format!("the address `{text}` of {link} is none"));
    text.parse().map_err(strange)
}
