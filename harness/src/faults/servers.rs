//! Which server a fault is about, whether it answers, and whether all is well with it again.

use std::sync::Arc;
use std::time::Duration;

use deserr::Deserr;
use redis::cmd;
use serde::{Deserialize, Serialize};

use super::error::FaultError;
use super::site::Site;
use crate::drill::problems::OutOfRange;
use crate::drill::range::Count;
use crate::environment::{EnvironmentError, Server};

/// A server that is slower than this does not answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(1);

/// The role of a server, or its name.
#[derive(Debug, Clone, PartialEq, Eq, Deserr, Serialize, Deserialize)]
#[deserr(try_from(String) = ServerName::new -> OutOfRange)]
#[serde(transparent)]
pub struct ServerName(String);

impl ServerName {
    const ROLES: [&str; 6] = [
        "redis-primary",
        "redis-replica",
        "mysql",
        "mysql-replica",
        "rocketmq-namesrv",
        "rocketmq-broker",
    ];

    /// # Errors
    /// No server is ever called that.
    pub fn new(name: String) -> Result<Self, OutOfRange> {
        let numbered = ["redis-", "service-"].iter().any(|prefix| {
            name.strip_prefix(prefix)
                .is_some_and(|number| number.parse::<u16>().is_ok())
        });
        if numbered || Self::ROLES.contains(&name.as_str()) {
            return Ok(Self(name));
        }
        let roles = Self::ROLES.join(", ");
        Err(OutOfRange(format!(
            "`{name}` is no server; one of {roles}, redis-0 and on, service-0 and on"
        )))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// `sku` says whose Redis primary or replica is meant.
    pub(super) async fn find(&self, site: Site<'_>, sku: Count) -> Result<Arc<Server>, FaultError> {
        match self.0.as_str() {
            "redis-primary" => site.server(site.primary_of(sku).await?.1.name()),
            "redis-replica" => site.server(site.replica_of(sku).await?.name()),
            name => site.server(name),
        }
    }
}

/// The server itself answers, asked past the proxy; the error says how it does not.
pub(super) async fn answers(site: Site<'_>, server: &Server) -> Result<(), String> {
    let asked = tokio::time::timeout(ANSWER_WITHIN, ask(site, server)).await;
    asked.unwrap_or_else(|_| Err(format!("no answer within {ANSWER_WITHIN:?}")))
}

async fn ask(site: Site<'_>, server: &Server) -> Result<(), String> {
    let stack = site.stack;
    let in_words = |error: EnvironmentError| error.to_string();
    match server.component() {
        "mysql" => stack.mysql.version().await.map(drop).map_err(in_words),
        "mysql-replica" => {
            let replica = site.mysql_replica().map_err(|error| error.to_string())?;
            let version = replica.mysql.version().await;
            version.map(drop).map_err(in_words)
        }
        "rocketmq-namesrv" => stack.rocketmq.name_server_serves().await,
        "rocketmq-broker" => stack.rocketmq.broker_serves().await,
        name => match stack.redis.nodes.iter().find(|node| node.name() == name) {
            Some(node) => node.query(&cmd("PING")).await.map_err(in_words),
            None => is_ready(site, server).await,
        },
    }
}

/// A service answers as it does when a run starts.
async fn is_ready(site: Site<'_>, service: &Server) -> Result<(), String> {
    let path = site.fill("ready_path", &site.target.start.ready_path, &[]);
    let path = path.map_err(|error| error.to_string())?;
    let url = format!("http://127.0.0.1:{}{path}", service.port());
    match reqwest::get(&url).await {
        Ok(answer) if answer.status().is_success() => Ok(()),
        Ok(answer) => Err(format!("GET {url}: {}", answer.status())),
        Err(error) => Err(format!("GET {url}: {error}")),
    }
}

/// It answers, and what it belongs to is whole.
pub(super) async fn serves(site: Site<'_>, server: &Server) -> Result<(), FaultError> {
    let answers = answers(site, server).await;
    answers.map_err(|silence| FaultError::missing(format!("{}: {silence}", server.component())))?;
    let stack = site.stack;
    let missing = match server.component() {
        "mysql-replica" => site.mysql_replica()?.missing(&stack.mysql).await?,
        name if name.starts_with("redis-") => stack.redis.missing().await?,
        // The broker registers itself anew.
        "rocketmq-namesrv" => stack.rocketmq.broker_serves().await.err(),
        _ => None,
    };
    missing.map_or(Ok(()), |missing| Err(FaultError::missing(missing)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_named_by_role_or_number() {
        for name in ["redis-primary", "redis-5", "service-0", "mysql-replica"] {
            assert!(ServerName::new(name.to_owned()).is_ok(), "{name}");
        }
        for name in ["redis", "redis-x", "service", "mysqld", ""] {
            let error = ServerName::new(name.to_owned()).unwrap_err();
            assert!(error.0.contains("one of redis-primary"), "{error:?}");
        }
    }
}
