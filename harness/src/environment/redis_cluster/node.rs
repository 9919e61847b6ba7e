//! One Redis node: its server, its ports, and a direct (unproxied) way to ask it.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Cmd, FromRedisValue, cmd};

use super::super::config;
use super::super::error::EnvironmentError;
use super::super::launcher::Launcher;
use super::super::links;
use super::super::ports::free_port;
use super::super::readiness::wait_until;
use super::super::server::{Program, Server, ServerSpec};
use super::topology::Myself;
use crate::proxy::ProxyClient;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
const READY_TIMEOUT: Duration = Duration::from_secs(20);

/// A member of the cluster; whether it is a primary is for the cluster to say.
#[derive(Debug)]
pub struct RedisNode {
    pub index: usize,
    pub server: Arc<Server>,
    /// Where it listens; for faults and observers.
    address: SocketAddr,
    /// Tells the server from another at the same port.
    config_file: PathBuf,
    /// What it announces: the listener of its replication link, or where its owner wants it to be found.
    pub announced: SocketAddr,
    /// What it announces for the bus: the listener of its bus link.
    pub announced_bus_port: u16,
    /// Addresses that lead to it past the proxy.
    pub(crate) direct: Vec<SocketAddr>,
}

impl RedisNode {
    /// Starts the server and its links; does not wait for it.
    pub(super) async fn start(
        launcher: &Arc<Launcher>,
        proxy: &ProxyClient,
        index: usize,
    ) -> Result<Self, EnvironmentError> {
        let (port, bus_port) = (free_port()?, free_port()?);
        let [data, bus] =
            [port, bus_port].map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let announced_port = links::open(proxy, &links::redis_replication(index), data).await?;
        let announced_bus_port = links::open(proxy, &links::redis_bus(index), bus).await?;
        let values = [
            ("port", port.to_string()),
            ("bus_port", bus_port.to_string()),
            ("announce_port", announced_port.to_string()),
            ("announce_bus_port", announced_bus_port.to_string()),
            ("source_address", source_address(index).to_string()),
        ];
        let file = launcher.folder.make(&component(index))?.join("redis.conf");
        let server = launch(launcher, index, &file, port, &values).await?;
        Ok(Self {
            index,
            server,
            address: data,
            config_file: file,
            announced: SocketAddr::from((Ipv4Addr::LOCALHOST, announced_port)),
            announced_bus_port,
            direct: vec![data],
        })
    }

    /// The node that somebody else runs at `address`.
    ///
    /// # Errors
    /// It does not answer, or is no member of a cluster.
    pub(crate) async fn attach(
        launcher: &Arc<Launcher>,
        index: usize,
        address: SocketAddr,
    ) -> Result<Self, EnvironmentError> {
        let spec = ServerSpec::attached(&component(index), Program::Redis, address.port());
        let mut node = Self {
            index,
            server: Server::start(launcher, spec).await?,
            address,
            config_file: PathBuf::new(),
            announced: address,
            announced_bus_port: 0,
            direct: vec![address],
        };
        node.config_file = node.reported_config_file().await?.into();
        let announced = node.myself().await?.announced;
        // One that was never told its address knows its port only.
        let ip = announced.ip.unwrap_or(address.ip());
        node.announced = SocketAddr::new(ip, announced.port);
        node.announced_bus_port = announced.bus_port;
        if node.announced != address {
            node.direct.push(node.announced);
        }
        Ok(node)
    }

    /// Its name in logs and reports.
    pub fn name(&self) -> &str {
        self.server.component()
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it dials other nodes from.
    pub fn source_address(&self) -> Ipv4Addr {
        source_address(self.index)
    }

    /// A direct connection with time-outs.
    pub async fn connect(&self) -> Result<MultiplexedConnection, EnvironmentError> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT_TIMEOUT))
            .set_response_timeout(Some(ANSWER_TIMEOUT));
        let connecting = |e| self.step(&format!("connecting to {}", self.address), e);
        let client =
            redis::Client::open(format!("redis://{}/", self.address)).map_err(connecting)?;
        client
            .get_multiplexed_async_connection_with_config(&config)
            .await
            .map_err(connecting)
    }

    /// Sends one command over a connection of its own.
    pub async fn query<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, EnvironmentError> {
        let mut connection = self.connect().await?;
        command.query_async(&mut connection).await.map_err(|e| {
            let name = command.args_iter().next();
            let name = match name {
                Some(redis::Arg::Simple(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
                _ => "command".to_owned(),
            };
            self.step(&name, e)
        })
    }

    /// Its own line of the cluster's table.
    pub async fn myself(&self) -> Result<Myself, EnvironmentError> {
        let nodes: String = self.query(cmd("CLUSTER").arg("NODES")).await?;
        Myself::parse(&nodes).ok_or_else(|| self.step("CLUSTER NODES", "no line for itself"))
    }

    /// One section of INFO as text.
    pub async fn info(&self, section: &str) -> Result<String, EnvironmentError> {
        self.query(cmd("INFO").arg(section)).await
    }

    /// Bytes of the replication stream that it has written or received.
    pub async fn replication_offset(&self) -> Result<u64, EnvironmentError> {
        let info = self.info("replication").await?;
        let offset = field(&info, "master_repl_offset").and_then(|text| text.parse().ok());
        offset.ok_or_else(|| self.step("INFO replication", "no master_repl_offset"))
    }

    /// How often it has answered with an error of that name, such as `MOVED`, since it was started.
    pub async fn error_answers(&self, name: &str) -> Result<u64, EnvironmentError> {
        let info = self.info("errorstats").await?;
        let count = field(&info, &format!("errorstat_{name}"));
        let count = count.and_then(|text| text.strip_prefix("count="));
        Ok(count.and_then(|text| text.parse().ok()).unwrap_or(0))
    }

    /// Value of a setting that it has.
    pub async fn setting(&self, name: &str) -> Result<String, EnvironmentError> {
        let (_, value): (String, String) = self.query(cmd("CONFIG").arg("GET").arg(name)).await?;
        Ok(value)
    }

    /// A replica whose link to its primary is up.
    pub async fn is_replica_in_sync(&self) -> Result<bool, EnvironmentError> {
        let info = self.info("replication").await?;
        Ok(field(&info, "role") == Some("slave")
            && field(&info, "master_link_status") == Some("up")
            && field(&info, "master_sync_in_progress") == Some("0"))
    }

    /// Answers, and it is this server that does.
    pub(super) async fn wait_answering(&self) -> Result<(), EnvironmentError> {
        wait_until(&self.server, READY_TIMEOUT, || async {
            let file = self.reported_config_file().await;
            match file.map_err(|e| e.to_string())? {
                file if self.config_file == Path::new(&file) => Ok(()),
                other => Err(format!("the server of {other:?} answers")),
            }
        })
        .await
    }

    /// Empty when it was started without one.
    async fn reported_config_file(&self) -> Result<String, EnvironmentError> {
        let info = self.info("server").await?;
        Ok(field(&info, "config_file").unwrap_or_default().to_owned())
    }

    pub(super) fn step(&self, step: &str, reason: impl std::fmt::Display) -> EnvironmentError {
        EnvironmentError::step(self.name(), step, reason)
    }
}

/// Value of one line of INFO.
pub(super) fn field<'i>(info: &'i str, name: &str) -> Option<&'i str> {
    info.lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
        .map(str::trim)
}

fn component(index: usize) -> String {
    format!("redis-{index}")
}

/// One address a node, all of them loopback.
fn source_address(index: usize) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 1, 10 + index as u8)
}

async fn launch(
    launcher: &Arc<Launcher>,
    index: usize,
    file: &Path,
    port: u16,
    values: &[(&str, String)],
) -> Result<Arc<Server>, EnvironmentError> {
    let component = component(index);
    let dir = launcher.folder.make(&component)?;
    let values = [values, &[("dir", dir.display().to_string())]].concat();
    config::write(config::REDIS, &values, file)?;
    let spec = ServerSpec {
        log: launcher.log_file(&component),
        component,
        program: Program::Redis,
        args: vec![file.display().to_string()],
        env: [].into(),
        dir,
        port,
    };
    Server::start(launcher, spec).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_field_of_info() {
        let info = "# Replication\r\nrole:slave\r\nmaster_link_status:up\r\n";
        assert_eq!(field(info, "role"), Some("slave"));
        assert_eq!(field(info, "master_link_status"), Some("up"));
        assert_eq!(field(info, "master_link"), None);
    }
}
