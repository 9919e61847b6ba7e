//! RocketMQ: name server and broker from the jars, both behind the fault proxy.

mod jvm;
mod remoting;
mod route;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use self::remoting::Request;
use self::route::Route;
use super::config;
use super::endpoints::{Located, Silences};
use super::error::EnvironmentError;
use super::launcher::Launcher;
use super::links;
use super::ports::{choose, free_port};
use super::readiness::wait_until;
use super::server::{Program, Server, ServerSpec};
use crate::proxy::ProxyClient;

const NAME_SERVER: &str = "rocketmq-namesrv";
const BROKER: &str = "rocketmq-broker";
/// As in `compose/broker.conf`.
const BROKER_NAME: &str = "broker-a";
/// The broker's own address; it advertises 127.0.0.1, where the proxy listens on the same port.
const BROKER_IP: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
const NAME_SERVER_CONF: &str = "bindAddress=127.0.0.1\nlistenPort={port}\n";
const READY_TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub struct RocketMq {
    pub name_server: Arc<Server>,
    pub broker: Arc<Server>,
    /// Direct, for faults and observers.
    pub name_server_address: SocketAddr,
    pub broker_address: SocketAddr,
    broker_name: String,
    /// Where the name server sends clients of the broker.
    pub advertised: SocketAddr,
    /// The listener of the broker's link: of ours, what it advertises.
    pub broker_link: SocketAddr,
    /// Addresses that lead to the broker past the proxy.
    pub(crate) broker_direct: Vec<SocketAddr>,
}

impl RocketMq {
    pub(crate) async fn start(
        launcher: &Arc<Launcher>,
        proxy: &ProxyClient,
    ) -> Result<Self, EnvironmentError> {
        let (name_server, name_server_address) =
            super::with_fresh_ports(|| start_name_server(launcher)).await?;
        let (broker, broker_address) =
            super::with_fresh_ports(|| start_broker(launcher, proxy, name_server_address)).await?;
        let link = SocketAddr::from((Ipv4Addr::LOCALHOST, broker_address.port()));
        let rocketmq = Self {
            name_server,
            broker,
            name_server_address,
            broker_address,
            broker_name: BROKER_NAME.to_owned(),
            advertised: link,
            broker_link: link,
            broker_direct: vec![broker_address],
        };
        rocketmq.wait_ready().await?;
        Ok(rocketmq)
    }

    /// The name server that somebody else runs, and its one broker: where the file says, or where clients are sent.
    ///
    /// # Errors
    /// Those that do not answer; several brokers; one at a host that is not allowed.
    pub(crate) async fn attach(
        launcher: &Arc<Launcher>,
        proxy: &ProxyClient,
        located: &Located,
    ) -> Result<Self, EnvironmentError> {
        let name_server_address = located.name_server;
        let mut silences = Silences::default();
        let route = silences.hear(ask_route(located).await);
        let broker = located.broker.or(route.as_ref().map(|route| route.address));
        if let Some(broker) = broker {
            let none = BTreeMap::new();
            let answer = remoting::call(broker, Request::BrokerRuntimeInfo, &none).await;
            silences.hear(answer.map_err(attaching(BROKER)));
        }
        let (route, broker_address) = silences.or(route.zip(broker))?;
        let link = links::open(proxy, links::ROCKETMQ_BROKER, route.address).await?;
        let start = |component, address: SocketAddr| {
            let spec = ServerSpec::attached(component, Program::Java, address.port());
            Server::start(launcher, spec)
        };
        Ok(Self {
            name_server: start(NAME_SERVER, name_server_address).await?,
            broker: start(BROKER, broker_address).await?,
            name_server_address,
            broker_address,
            broker_name: route.broker,
            advertised: route.address,
            broker_link: SocketAddr::from((Ipv4Addr::LOCALHOST, link)),
            broker_direct: vec![broker_address, route.address],
        })
    }

    /// The folder of the broker's commit log (`storePathCommitLog` in `compose/broker.conf`).
    pub(crate) fn commit_log(&self) -> PathBuf {
        self.broker.folder().join("store/commitlog")
    }

    /// What the broker says of its store.
    pub(crate) fn store_log(&self) -> PathBuf {
        self.broker.folder().join("logs/rocketmqlogs/store.log")
    }

    /// Waits until the broker serves and the name server knows it.
    pub async fn wait_ready(&self) -> Result<(), EnvironmentError> {
        wait_until(&self.broker, READY_TIMEOUT, || self.broker_serves()).await
    }

    /// The broker serves, and clients can find it; the error says what is missing.
    pub async fn broker_serves(&self) -> Result<(), String> {
        self.runtime_info().await?;
        let none = BTreeMap::new();
        let known = remoting::call(self.name_server_address, Request::ClusterInfo, &none).await?;
        if String::from_utf8_lossy(&known).contains(&self.broker_name) {
            return Ok(());
        }
        Err("it is not registered at the name server yet".to_owned())
    }

    /// The name server answers a lookup; the error says how not.
    pub(crate) async fn name_server_serves(&self) -> Result<(), String> {
        let none = BTreeMap::new();
        let known = remoting::call(self.name_server_address, Request::ClusterInfo, &none).await;
        known.map(drop)
    }

    /// Asks it as a service would.
    ///
    /// # Errors
    /// What came instead of an answer, after at most some seconds.
    pub async fn answers_through_link(&self) -> Result<(), String> {
        let none = BTreeMap::new();
        let answer = remoting::call(self.broker_link, Request::BrokerRuntimeInfo, &none).await;
        answer.map(drop)
    }

    async fn runtime_info(&self) -> Result<String, String> {
        let none = BTreeMap::new();
        let info = remoting::call(self.broker_address, Request::BrokerRuntimeInfo, &none).await?;
        Ok(String::from_utf8_lossy(&info).into_owned())
    }

    /// Messages of `topic`, and of the group's retry topic, that `group` has not consumed. A group
    /// or topic that nobody used has none.
    ///
    /// # Errors
    /// The broker does not answer.
    pub async fn backlog(&self, topic: &str, group: &str) -> Result<u64, EnvironmentError> {
        let retries = format!("%RETRY%{group}");
        Ok(self.lag(topic, group).await? + self.lag(&retries, group).await?)
    }

    /// Half messages whose outcome the broker has not settled yet. Falls only as the broker's
    /// check runs (every 3 s), so it is an upper bound.
    pub async fn half_messages(&self) -> Result<u64, EnvironmentError> {
        self.lag("RMQ_SYS_TRANS_HALF_TOPIC", "CID_RMQ_SYS_TRANS")
            .await
    }

    async fn lag(&self, topic: &str, group: &str) -> Result<u64, EnvironmentError> {
        let fields = [
            ("topic", topic.to_owned()),
            ("consumerGroup", group.to_owned()),
        ]
        .into();
        let step = |reason| EnvironmentError::step(BROKER, "reading the backlog", reason);
        let body = remoting::call(self.broker_address, Request::ConsumeStats, &fields)
            .await
            .map_err(step)?;
        let body = String::from_utf8_lossy(&body);
        remoting::lag(&body).ok_or_else(|| step(format!("strange answer: {body}")))
    }

    /// Makes a topic with `queues` queues, or changes it. An automatically made topic gets no more
    /// queues than the first sender asks for (4 by default).
    pub async fn create_topic(&self, topic: &str, queues: u32) -> Result<(), EnvironmentError> {
        let fields = [
            ("topic", topic.to_owned()),
            ("defaultTopic", "TBW102".to_owned()),
            ("readQueueNums", queues.to_string()),
            ("writeQueueNums", queues.to_string()),
            // Readable and writable.
            ("perm", "6".to_owned()),
            ("topicFilterType", "SINGLE_TAG".to_owned()),
            ("topicSysFlag", "0".to_owned()),
            ("order", "false".to_owned()),
        ]
        .into();
        remoting::call(self.broker_address, Request::UpdateTopic, &fields)
            .await
            .map(drop)
            .map_err(|reason| EnvironmentError::step(BROKER, "making a topic", reason))
    }

    pub(crate) async fn revive(&self) -> Result<(), EnvironmentError> {
        self.name_server.start_again().await?;
        wait_for_name_server(&self.name_server, self.name_server_address).await?;
        self.broker.start_again().await?;
        self.wait_ready().await
    }

    /// What the broker is set to, of all it knows.
    ///
    /// # Errors
    /// The broker does not answer.
    pub(crate) async fn settings(&self) -> Result<Vec<(String, String)>, EnvironmentError> {
        let none = BTreeMap::new();
        let text = remoting::call(self.broker_address, Request::BrokerConfig, &none)
            .await
            .map_err(|reason| EnvironmentError::step(BROKER, "reading its settings", reason))?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let pairs = text.lines().filter_map(|line| line.split_once('='));
        Ok(pairs
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect())
    }

    pub(crate) async fn version(&self) -> Result<String, EnvironmentError> {
        let info = self
            .runtime_info()
            .await
            .map_err(|reason| EnvironmentError::step(BROKER, "asking its version", reason))?;
        let named = info.split("\"brokerVersionDesc\":\"").nth(1);
        let version = named
            .and_then(|rest| rest.split('"').next())
            .unwrap_or("unknown");
        Ok(format!(
            "Apache RocketMQ {}",
            version.trim_start_matches('V').replace('_', ".")
        ))
    }
}

/// Where the name server sends clients.
async fn ask_route(located: &Located) -> Result<Route, EnvironmentError> {
    let none = BTreeMap::new();
    let known = remoting::call(located.name_server, Request::ClusterInfo, &none).await;
    let route = known.and_then(|known| Route::only(&known));
    let route = route.map_err(attaching(NAME_SERVER))?;
    if located.allows(route.address) {
        return Ok(route);
    }
    let Route { broker, address } = route;
    let ip = address.ip();
    let reason = format!(
        "it sends clients of {broker} to {address}, beyond loopback; allow it by name if it is yours: hosts = [\"{ip}\"]"
    );
    Err(attaching(NAME_SERVER)(reason))
}

fn attaching(component: &'static str) -> impl Fn(String) -> EnvironmentError {
    move |reason| EnvironmentError::step(component, "attaching", reason)
}

/// Waits for it: a broker that finds no name server at its start tries again 10 s later.
async fn start_name_server(
    launcher: &Arc<Launcher>,
) -> Result<(Arc<Server>, SocketAddr), EnvironmentError> {
    let port = free_port()?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let dir = launcher.folder.make(NAME_SERVER)?;
    let file = dir.join("namesrv.conf");
    config::write(NAME_SERVER_CONF, &[("port", port.to_string())], &file)?;
    let args = ["-c".to_owned(), file.display().to_string()];
    let spec = jvm::name_server(launcher, NAME_SERVER, dir, &args, port);
    let server = Server::start(launcher, spec).await?;
    wait_for_name_server(&server, address).await?;
    Ok((server, address))
}

async fn wait_for_name_server(
    server: &Server,
    address: SocketAddr,
) -> Result<(), EnvironmentError> {
    let none = BTreeMap::new();
    wait_until(server, READY_TIMEOUT, || {
        remoting::call(address, Request::ClusterInfo, &none)
    })
    .await
    .map(drop)
}

/// The broker and its link, which must have the broker's port.
async fn start_broker(
    launcher: &Arc<Launcher>,
    proxy: &ProxyClient,
    name_server: SocketAddr,
) -> Result<(Arc<Server>, SocketAddr), EnvironmentError> {
    let (port, ha_port) = broker_ports()?;
    let address = SocketAddr::from((BROKER_IP, port));
    links::open_at(proxy, links::ROCKETMQ_BROKER, port, address).await?;
    let dir = launcher.folder.make(BROKER)?;
    let file = dir.join("broker.conf");
    let values = [
        ("port", port.to_string()),
        ("ha_port", ha_port.to_string()),
        ("namesrv", name_server.to_string()),
        ("dir", dir.display().to_string()),
    ];
    config::write(config::BROKER, &values, &file)?;
    let args = ["-c".to_owned(), file.display().to_string()];
    let spec = jvm::broker(launcher, BROKER, dir, &args, port);
    Ok((Server::start(launcher, spec).await?, address))
}

/// The broker listens on its port and two below it (its "fast" port); the HA port is our choice,
/// and binds everywhere whatever `bindAddress` says.
fn broker_ports() -> Result<(u16, u16), EnvironmentError> {
    let port = choose(&|port| {
        [
            (Ipv4Addr::LOCALHOST, port),
            (BROKER_IP, port),
            (BROKER_IP, port - 2),
        ]
        .to_vec()
    })?;
    let ha_port = choose(&|port| [(Ipv4Addr::UNSPECIFIED, port)].to_vec())?;
    Ok((port, ha_port))
}
