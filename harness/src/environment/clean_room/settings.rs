//! What the servers are set to. A fault that turns a server read-only or takes its memory away must turn it
//! back; what a server says of all its settings, before and after, shows it.

use std::collections::BTreeMap;
use std::time::Duration;

use redis::cmd;

use super::super::error::EnvironmentError;
use super::super::links::ROCKETMQ_BROKER;
use super::super::stack::Stack;
use super::{Leftover, LeftoverKind};

/// `server setting` to value.
pub(crate) type Settings = BTreeMap<String, String>;

/// A paused server would be waited for without end.
const READ_TIMEOUT: Duration = Duration::from_secs(5);
/// Change by themselves: positions in the binary log, and who follows whom.
const RESTLESS: [&str; 3] = ["gtid_", "replicaof", "slaveof"];

/// The settings of all servers that have any.
///
/// # Errors
/// A server that does not answer.
pub(crate) async fn read(stack: &Stack) -> Result<Settings, EnvironmentError> {
    let mut settings = Settings::new();
    let mut note = |server: &str, pairs: Vec<(String, String)>| {
        let steady = pairs
            .into_iter()
            .filter(|(name, _)| !RESTLESS.iter().any(|prefix| name.starts_with(prefix)));
        settings.extend(steady.map(|(name, value)| (format!("{server} {name}"), value)));
    };
    for node in &stack.redis.nodes {
        let all: BTreeMap<String, String> = node.query(cmd("CONFIG").arg("GET").arg("*")).await?;
        note(node.name(), all.into_iter().collect());
    }
    for mysql in stack.mysqls() {
        note(mysql.name(), mysql.settings().await?);
    }
    let broker = stack.rocketmq.settings().await?.into_iter();
    // The broker rewrites others by itself.
    let lasting = broker.filter(|(name, _)| GUARANTEES.contains(&name.as_str()));
    note(ROCKETMQ_BROKER, lasting.collect());
    Ok(settings)
}

/// Settings that decide what a server may lose of what it has acknowledged.
const GUARANTEES: [&str; 10] = [
    "appendonly",
    "appendfsync",
    "min-replicas-to-write",
    "cluster-node-timeout",
    "innodb_flush_log_at_trx_commit",
    "sync_binlog",
    // MariaDB's name and MySQL's.
    "tx_isolation",
    "transaction_isolation",
    "flushDiskType",
    "brokerRole",
];

/// These of all settings.
pub(crate) fn guarantees(settings: &Settings) -> Settings {
    let decides = |name: &str| {
        GUARANTEES
            .iter()
            .any(|one| name.ends_with(&format!(" {one}")))
    };
    let all = settings.iter().filter(|(name, _)| decides(name));
    all.map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// What is not as it was when the stack came up.
pub(super) async fn changed(stack: &Stack) -> Vec<Leftover> {
    let before = stack.settings();
    let now = match tokio::time::timeout(READ_TIMEOUT, read(stack)).await {
        Ok(Ok(now)) => now,
        Ok(Err(error)) => return vec![Leftover::new(LeftoverKind::Unknown, error)],
        Err(_) => {
            let silent = "settings: a server does not answer";
            return vec![Leftover::new(LeftoverKind::Unknown, silent)];
        }
    };
    let changed = now
        .iter()
        .filter(|(name, value)| before.get(*name) != Some(*value));
    changed
        .map(|(name, value)| {
            let was = before.get(name).map_or("unset", String::as_str);
            Leftover::new(
                LeftoverKind::Setting,
                format!("{name} = {value} (was {was})"),
            )
        })
        .collect()
}
