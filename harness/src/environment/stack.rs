//! The whole stack: servers behind the fault proxy, started together, reset between drills, stopped
//! without a trace.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use futures_util::future::join_all;

use super::bypass::BypassWatch;
use super::clean_room::{self, Settings};
use super::components::Components;
use super::disk_flush::DiskFlush;
use super::error::EnvironmentError;
use super::fault_proxy::FaultProxy;
use super::launcher::{Launcher, Place};
use super::links::ServiceLinks;
use super::mysql::{Mysql, MysqlReplica};
use super::redis_cluster::RedisCluster;
use super::rocketmq::RocketMq;
use super::server::Server;
use super::setting::Setting;
use super::{procfs, sweep};
use crate::proxy::{ProxyClient, ProxyKind};
use crate::target::template::Variables;

/// Told what is going on, in one line a time.
pub type Progress = Arc<dyn Fn(&str) + Send + Sync>;

/// How to bring a stack up.
#[derive(Clone)]
pub struct StackOptions {
    /// Part of the scratch folder's name.
    pub name: String,
    /// Logs of all servers are written here and stay.
    pub keep_logs_in: PathBuf,
    pub progress: Progress,
    pub setting: Setting,
}

impl fmt::Debug for StackOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StackOptions")
            .field("name", &self.name)
            .field("keep_logs_in", &self.keep_logs_in)
            .field("setting", &self.setting)
            .finish_non_exhaustive()
    }
}

/// A service node that runs beside the stack.
#[derive(Debug)]
struct Adopted {
    node: usize,
    base_url: String,
    server: Weak<Server>,
}

/// A running stack. Dropping it kills every server and removes the scratch folder.
#[derive(Debug)]
pub struct Stack {
    // Servers before the launcher: their folder goes last.
    pub redis: RedisCluster,
    pub mysql: Mysql,
    /// None: a stack of somebody else's that has none.
    pub mysql_replica: Option<MysqlReplica>,
    pub rocketmq: RocketMq,
    /// Faults are put on the links through this.
    pub links: ProxyClient,
    proxy: FaultProxy,
    setting: Setting,
    versions: BTreeMap<String, String>,
    /// As they were when it came up.
    settings: Settings,
    services: Mutex<Vec<Adopted>>,
    bypass_watch: Mutex<BypassWatch>,
    service_links: tokio::sync::Mutex<BTreeMap<usize, Arc<ServiceLinks>>>,
    launcher: Arc<Launcher>,
}

impl Stack {
    /// Starts everything in parallel, behind the fault proxy; ready and empty when it returns. Servers that somebody
    /// else runs are found instead, and left as they are.
    ///
    /// # Errors
    /// Missing programs or images (all at once), no engine, a server that died or was not ready in time (with the end
    /// of its log), endpoints that do not answer (all at once). Nothing is left running then.
    pub async fn start(options: &StackOptions) -> Result<Self, EnvironmentError> {
        let say = |line: &str| (options.progress)(line);
        let swept = sweep::sweep().await;
        if !swept.killed.is_empty() {
            say(&format!(
                "killed leftovers of a dead run: {}",
                swept.killed.join(", ")
            ));
        }
        let place = options.setting.place(say).await?;
        let launcher = Arc::new(Launcher::new(&options.name, &options.keep_logs_in, place)?);
        let proxy = FaultProxy::start(&launcher, options.setting.proxy()).await?;
        launcher.folder.record_proxy(proxy.address())?;
        let links = proxy.client();
        let components = Components::ready(&launcher, &links, say).await?;
        let mut stack = Self {
            redis: components.redis,
            mysql: components.mysql,
            mysql_replica: components.mysql_replica,
            rocketmq: components.rocketmq,
            setting: options.setting.clone(),
            links,
            proxy,
            versions: BTreeMap::new(),
            settings: Settings::new(),
            services: Mutex::default(),
            bypass_watch: Mutex::default(),
            service_links: tokio::sync::Mutex::default(),
            launcher,
        };
        stack.versions = stack.read_versions().await?;
        stack.settings = clean_room::read_settings(&stack).await?;
        Ok(stack)
    }

    /// Service node `node`'s own links, opened when they are first asked for; they stay as long as the stack.
    ///
    /// # Errors
    /// The proxy refuses.
    pub async fn service_links(&self, node: usize) -> Result<Arc<ServiceLinks>, EnvironmentError> {
        let mut opened = self.service_links.lock().await;
        if let Some(links) = opened.get(&node) {
            return Ok(Arc::clone(links));
        }
        let links = Arc::new(ServiceLinks::open(self, node).await?);
        opened.insert(node, Arc::clone(&links));
        Ok(links)
    }

    /// What target files may name, whichever service node they speak of.
    pub fn variables(&self) -> Variables {
        let scratch = self.launcher.folder.path().display().to_string();
        [("scratch".to_owned(), scratch)].into()
    }

    /// What a target file may name to start service node `node`.
    ///
    /// # Errors
    /// As of [`Self::service_links`].
    pub async fn service_variables(&self, node: usize) -> Result<Variables, EnvironmentError> {
        let mut variables = self.variables();
        variables.extend(self.service_links(node).await?.variables(self));
        Ok(variables)
    }

    /// Removes every fault, brings dead servers back, and waits until all is whole.
    ///
    /// # Errors
    /// A server that does not come back.
    pub async fn heal(&self) -> Result<(), EnvironmentError> {
        self.revive().await?;
        match &self.mysql_replica {
            Some(replica) => replica.wait_in_step(&self.mysql).await,
            None => Ok(()),
        }
    }

    /// All of [`Stack::heal`] but the MySQL replica's copy, which may be past healing.
    async fn revive(&self) -> Result<(), EnvironmentError> {
        self.links.reset().await?;
        for server in self.servers() {
            server.resume().await?;
        }
        tokio::try_join!(
            self.redis.revive(),
            self.mysql.revive(),
            self.revive_replica(),
            self.rocketmq.revive()
        )?;
        self.redis.wait_healthy().await
    }

    async fn revive_replica(&self) -> Result<(), EnvironmentError> {
        match &self.mysql_replica {
            Some(replica) => replica.revive().await,
            None => Ok(()),
        }
    }

    /// Back to the state after the start: healed, and both stores empty, which is verified. Topics
    /// stay on the broker; a run uses its own.
    ///
    /// # Errors
    /// A server that does not come back, or a store that is not empty; stores of somebody else's that must not be
    /// emptied.
    pub async fn reset(&self) -> Result<(), EnvironmentError> {
        if let Some(theirs) = self.setting.endpoints()
            && !theirs.may_reset
        {
            return Err(EnvironmentError::MayNotReset(theirs.file.clone()));
        }
        self.revive().await?;
        tokio::try_join!(self.redis.flush(), self.empty_mysql())?;
        let (keys, tables, copies) =
            tokio::try_join!(self.redis.keys(), self.mysql.tables(), self.copies())?;
        if keys > 0 || tables > 0 || copies > 0 {
            let left = format!(
                "{keys} Redis keys, {tables} tables, {copies} on the replica; does a service still run?"
            );
            return Err(EnvironmentError::NotEmpty(left));
        }
        Ok(())
    }

    /// Leaves nothing of the runs in stores that somebody else keeps; ours go with the stack.
    ///
    /// # Errors
    /// As of [`Self::reset`].
    pub async fn hand_back(&self) -> Result<(), EnvironmentError> {
        match self.setting.endpoints() {
            Some(_) => self.reset().await,
            None => Ok(()),
        }
    }

    async fn empty_mysql(&self) -> Result<(), EnvironmentError> {
        self.mysql.recreate_database().await?;
        match &self.mysql_replica {
            Some(replica) => replica.begin_anew(&self.mysql).await,
            None => Ok(()),
        }
    }

    /// Tables on the replica.
    async fn copies(&self) -> Result<i64, EnvironmentError> {
        match &self.mysql_replica {
            Some(replica) => replica.mysql.tables().await,
            None => Ok(0),
        }
    }

    /// What it was started with.
    pub fn setting(&self) -> &Setting {
        &self.setting
    }

    /// Product and version of every server, as they say themselves, and the environment they run in.
    pub fn versions(&self) -> BTreeMap<String, String> {
        self.versions.clone()
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Those of the servers' settings that decide which losses are allowed, as they were when the stack came up.
    pub fn guarantees(&self) -> Settings {
        clean_room::guarantees(&self.settings)
    }

    /// Primary and replica.
    pub fn mysqls(&self) -> impl Iterator<Item = &Mysql> {
        let replica = self.mysql_replica.as_ref();
        [&self.mysql]
            .into_iter()
            .chain(replica.map(|one| &one.mysql))
    }

    /// Where the servers are found past the proxy, by name: nobody but the proxy and the observers should go there.
    pub fn direct_addresses(&self) -> BTreeMap<SocketAddr, String> {
        let (nodes, rocketmq) = (&self.redis.nodes, &self.rocketmq);
        let redis = nodes.iter().map(|node| (&node.server, node.direct.clone()));
        let mysql = self.mysqls().map(|one| (&one.server, vec![one.address()]));
        let name_server = vec![rocketmq.name_server_address];
        let rocketmq = [
            (&rocketmq.name_server, name_server),
            (&rocketmq.broker, rocketmq.broker_direct.clone()),
        ];
        let all = redis.chain(mysql).chain(rocketmq);
        all.flat_map(|(server, addresses)| {
            let name = server.component().to_owned();
            addresses
                .into_iter()
                .map(move |address| (address, name.clone()))
        })
        .collect()
    }

    /// What the services' nodes are connected to past the fault proxy, in words.
    pub fn bypasses(&self) -> Vec<String> {
        let watch = self.bypass_watch.lock();
        let mut watch = watch.unwrap_or_else(PoisonError::into_inner);
        watch.look(&self.services(), &self.direct_addresses())
    }

    async fn read_versions(&self) -> Result<BTreeMap<String, String>, EnvironmentError> {
        let (redis, rocketmq) = tokio::try_join!(self.redis.version(), self.rocketmq.version())?;
        let proxy = self.proxy.version().await?;
        let mut pairs = vec![("redis", redis), ("rocketmq", rocketmq), ("proxy", proxy)];
        for mysql in self.mysqls() {
            pairs.push((mysql.name(), mysql.version().await?));
        }
        match &self.launcher.place {
            Place::Native(programs) => {
                pairs.push(("environment", "native processes".to_owned()));
                pairs.push(("java", java_version(&programs.java)));
            }
            Place::Containers(engine) => {
                pairs.push((
                    "environment",
                    format!("containers, Docker {}", engine.version),
                ));
                pairs.push(("images", engine.image_names()));
            }
            Place::Attached(located) => {
                let file = located.endpoints.file.display();
                pairs.push(("environment", format!("attached, {file}")));
            }
        }
        Ok(pairs
            .into_iter()
            .map(|(name, version)| (name.to_owned(), version))
            .collect())
    }

    /// CPU time used so far, milliseconds: `redis` (all nodes), `mysql`, `mysql-replica`, `rocketmq-namesrv`,
    /// `rocketmq-broker`, `service` (all nodes), `proxy`, and `harness` (this process without the proxy). Of servers
    /// that somebody else runs it is not known.
    pub fn cpu_ms(&self) -> BTreeMap<String, u64> {
        let mut sums = BTreeMap::new();
        for server in self.servers() {
            if let Some(used) = server.cpu_ms() {
                *sums.entry(role(server.component()).to_owned()).or_default() += used;
            }
        }
        let (proxy, within) = self.proxy.cpu_ms();
        let whole = procfs::cpu_ms(std::process::id()).unwrap_or(0);
        sums.insert("proxy".to_owned(), proxy);
        sums.insert("harness".to_owned(), whole.saturating_sub(within));
        sums
    }

    pub(super) fn proxy_kind(&self) -> ProxyKind {
        self.proxy.kind()
    }

    /// Address of the proxy's REST API.
    pub fn proxy_address(&self) -> SocketAddr {
        self.proxy.address()
    }

    /// Kills every server at once (nothing of theirs is kept) and removes the scratch folder.
    /// Calling it again does nothing.
    pub async fn stop(&self) {
        let servers = self.servers();
        let all = servers.iter().chain(self.proxy.server());
        join_all(all.map(|server| server.remove())).await;
        self.launcher.folder.remove();
    }

    /// Of the disk that the servers' files are on; None where they are somewhere else, or it cannot be measured.
    pub async fn disk_flush(&self) -> Option<DiskFlush> {
        if matches!(self.launcher.place, Place::Attached(_)) {
            return None;
        }
        let folder = self.scratch().to_owned();
        let measured = tokio::task::spawn_blocking(move || DiskFlush::measure(&folder));
        measured.await.ok()?.ok()
    }

    /// The run's scratch folder.
    pub fn scratch(&self) -> &Path {
        self.launcher.folder.path()
    }

    /// All servers of the stack and the services beside it.
    pub fn servers(&self) -> Vec<Arc<Server>> {
        let nodes = self.redis.nodes.iter().map(|node| &node.server);
        let mysql = self.mysqls().map(|mysql| &mysql.server);
        let rocketmq = [&self.rocketmq.broker, &self.rocketmq.name_server];
        let stack = nodes.chain(mysql).chain(rocketmq).cloned();
        self.services().into_iter().chain(stack).collect()
    }

    /// Process groups of all that may run while the stack stands.
    pub(super) fn groups(&self) -> Vec<u32> {
        let servers = self.servers();
        let all = servers.iter().chain(self.proxy.server());
        all.filter_map(|server| server.pid()).collect()
    }

    fn services(&self) -> Vec<Arc<Server>> {
        let services = self.services.lock().unwrap_or_else(PoisonError::into_inner);
        let alive = services.iter().filter_map(|one| one.server.upgrade());
        alive.collect()
    }

    /// `http://host:port` of service node `node`, if it has been started.
    pub fn service_url(&self, node: usize) -> Option<String> {
        let services = self.services.lock().unwrap_or_else(PoisonError::into_inner);
        let of_node = services.iter().rev().find(|one| one.node == node);
        of_node.map(|one| one.base_url.clone())
    }

    pub(super) fn launcher(&self) -> &Arc<Launcher> {
        &self.launcher
    }

    /// Counts a service node's CPU with the stack's, and kills it with the stack.
    pub(super) fn adopt(&self, node: usize, base_url: &str, server: &Arc<Server>) {
        let mut services = self.services.lock().unwrap_or_else(PoisonError::into_inner);
        services.retain(|one| one.server.strong_count() > 0);
        services.push(Adopted {
            node,
            base_url: base_url.to_owned(),
            server: Arc::downgrade(server),
        });
    }
}

/// `redis` of `redis-3`.
fn role(component: &str) -> &str {
    match component.rsplit_once('-') {
        Some((role, number)) if number.parse::<u32>().is_ok() => role,
        _ => component,
    }
}

/// `java -version` writes to standard error: `openjdk version "17.0.15" 2025-04-15`.
fn java_version(java: &Path) -> String {
    let output = Command::new(java).arg("-version").output();
    let text = output
        .map(|o| String::from_utf8_lossy(&o.stderr).into_owned())
        .unwrap_or_default();
    text.lines().next().unwrap_or("unknown").replace('"', "")
}
