//! MySQL-compatible servers, each with its data folder, its server and a direct way to ask it: the primary, and
//! the [`MysqlReplica`] that follows it.

mod launch;
mod product;
mod replica;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use sqlx::mysql::MySqlConnection;
use sqlx::{Connection, Executor, Row};
use tokio::time::timeout;

pub use product::Product;
pub use replica::{MysqlReplica, ReplicaStatus};

pub(crate) use launch::Role;

use super::endpoints::DatabaseUrl;
use super::error::EnvironmentError;
use super::launcher::Launcher;
use super::readiness::wait_until;
use super::server::{Program, Server, ServerSpec};
use crate::proxy::ProxyClient;

/// Ours: may do everything. Loopback only, data thrown away: the passwords keep nobody out and are no secrets.
const USER: &str = "flashdrill";
/// The service's: owns the database and nothing else, so that it obeys `read_only` and connection limits.
const SERVICE_USER: &str = "service";
/// May enter the server and nothing else, until the service gives it what its nodes need.
const NODE_USER: &str = "node";
const DATABASE: &str = "flashdrill";
const READY_TIMEOUT: Duration = Duration::from_secs(60);
/// A server that runs already answers at once.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Seconds that a forgotten client's lock may hold up the reset.
const DROP_LOCK_WAIT_S: u32 = 5;

/// One server.
#[derive(Debug)]
pub struct Mysql {
    pub server: Arc<Server>,
    /// Where it listens; for faults and observers.
    address: SocketAddr,
    access: Access,
}

/// Ways to its one database, past the proxy.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    /// For observers, resets and faults.
    pub observer: DatabaseUrl,
    pub service: DatabaseUrl,
    /// For a service whose nodes do not own their tables.
    pub node: DatabaseUrl,
}

impl Access {
    /// To a server of ours.
    fn ours(address: SocketAddr) -> Self {
        let url = |user| DatabaseUrl::new(user, user, address, DATABASE);
        Self {
            observer: url(USER),
            service: url(SERVICE_USER),
            node: url(NODE_USER),
        }
    }
}

/// Makes two data folders, starts the servers in them, and lets the second follow the first.
pub(crate) async fn start(
    launcher: &Arc<Launcher>,
    proxy: &ProxyClient,
) -> Result<(Mysql, MysqlReplica), EnvironmentError> {
    let (primary, replica) = tokio::try_join!(
        Mysql::start(launcher, Role::Primary),
        Mysql::start(launcher, Role::Replica),
    )?;
    let replica = MysqlReplica::of(&primary, replica, proxy).await?;
    Ok((primary, replica))
}

impl Mysql {
    /// Starts the server and waits until it answers.
    async fn start(launcher: &Arc<Launcher>, role: Role) -> Result<Self, EnvironmentError> {
        let dir = launch::folder(launcher, role)?;
        super::with_fresh_ports(|| async {
            let (server, address) = launch::launch(launcher, role, &dir).await?;
            let mysql = Self {
                server,
                address,
                access: Access::ours(address),
            };
            mysql.wait_ready().await?;
            Ok(mysql)
        })
        .await
    }

    /// The server that somebody else runs at `address`.
    ///
    /// # Errors
    /// It does not answer, or not to one of the accounts.
    pub(crate) async fn attach(
        launcher: &Arc<Launcher>,
        role: Role,
        address: SocketAddr,
        access: Access,
    ) -> Result<Self, EnvironmentError> {
        let spec = ServerSpec::attached(role.component(), Program::Mysql, address.port());
        let mysql = Self {
            server: Server::start(launcher, spec).await?,
            address,
            access,
        };
        let Access {
            observer,
            service,
            node,
        } = &mysql.access;
        // What a node may enter it is told by the service.
        let accounts = [
            (observer, observer.as_str().to_owned()),
            (service, service.as_str().to_owned()),
            (node, node.server()),
        ];
        for (url, way) in accounts {
            let step = format!("connecting to {url:?}");
            let connected = timeout(CONNECT_TIMEOUT, MySqlConnection::connect(&way)).await;
            connected
                .map_err(|_| mysql.step(&step, format!("no answer within {CONNECT_TIMEOUT:?}")))?
                .map_err(|e| mysql.step(&step, e))?;
        }
        Ok(mysql)
    }

    /// Its name in logs and reports.
    pub fn name(&self) -> &str {
        self.server.component()
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Direct, for observers.
    pub fn url(&self) -> String {
        self.access.observer.as_str().to_owned()
    }

    /// For the service, through a link that listens at `port`.
    pub(super) fn service_url(&self, port: u16) -> String {
        self.access.service.through(port)
    }

    /// The same for a node with no more rights than it needs.
    pub(super) fn node_url(&self, port: u16) -> String {
        self.access.node.through(port)
    }

    /// Direct, with the service's rights.
    pub(crate) fn service_account_url(&self) -> String {
        self.access.service.as_str().to_owned()
    }

    /// Direct, with a node's rights.
    pub(crate) fn node_account_url(&self) -> String {
        self.access.node.as_str().to_owned()
    }

    /// Whom the service connects as.
    pub(crate) fn service_accounts(&self) -> [&str; 2] {
        [self.access.service.user(), self.access.node.user()]
    }

    fn database(&self) -> &str {
        self.access.observer.database()
    }

    pub(crate) async fn wait_ready(&self) -> Result<(), EnvironmentError> {
        wait_until(&self.server, READY_TIMEOUT, || async {
            let mut connection = self.connect().await.map_err(|e| e.to_string())?;
            connection.ping().await.map_err(|e| e.to_string())
        })
        .await
    }

    /// To no database: ours is away for a moment at each reset, on the replica some time later.
    async fn connect(&self) -> Result<MySqlConnection, sqlx::Error> {
        MySqlConnection::connect(&self.access.observer.server()).await
    }

    /// Throws the database away and makes an empty one.
    pub(crate) async fn recreate_database(&self) -> Result<(), EnvironmentError> {
        self.execute(self.recreation())
            .await
            .map_err(|e| self.step("emptying the database", e))
    }

    async fn execute(
        &self,
        statements: impl IntoIterator<Item = String>,
    ) -> Result<(), sqlx::Error> {
        let mut connection = self.connect().await?;
        for statement in statements {
            connection.execute(sqlx::raw_sql(&statement)).await?;
        }
        Ok(())
    }

    pub(crate) async fn tables(&self) -> Result<i64, EnvironmentError> {
        let sql = format!(
            "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = '{}'",
            self.database()
        );
        self.read(&sql)
            .await
            .map_err(|e| self.step("counting tables", e))
    }

    /// What its binary log holds so far, as GTIDs.
    async fn position(&self) -> Result<String, EnvironmentError> {
        let product = self.product().await?;
        let position: String = self
            .read(product.position())
            .await
            .map_err(|e| self.step("reading its binary log's position", e))?;
        // MySQL breaks lines between the servers of a set.
        Ok(position.replace('\n', ""))
    }

    /// All its global settings, name and value.
    pub(crate) async fn settings(&self) -> Result<Vec<(String, String)>, EnvironmentError> {
        let read = async {
            let mut connection = self.connect().await?;
            let rows = connection
                .fetch_all(sqlx::raw_sql("SHOW GLOBAL VARIABLES"))
                .await?;
            rows.iter()
                .map(|row| {
                    let value: Option<String> = row.try_get_unchecked(1)?;
                    Ok((row.try_get_unchecked(0)?, value.unwrap_or_default()))
                })
                .collect::<Result<_, sqlx::Error>>()
        };
        read.await.map_err(|e| self.step("reading its settings", e))
    }

    /// The one value of the one row.
    async fn read<T>(&self, sql: &str) -> Result<T, sqlx::Error>
    where
        T: for<'r> sqlx::Decode<'r, sqlx::MySql> + sqlx::Type<sqlx::MySql>,
    {
        let mut connection = self.connect().await?;
        connection.fetch_one(sql).await?.try_get(0)
    }

    pub(crate) async fn revive(&self) -> Result<(), EnvironmentError> {
        self.server.start_again().await?;
        self.wait_ready().await
    }

    /// The real product: MariaDB is not MySQL.
    pub(crate) async fn version(&self) -> Result<String, EnvironmentError> {
        let version = self.version_text().await?;
        Ok(format!("{} {version}", Product::of(&version)))
    }

    /// Which dialect of the replication commands it speaks.
    pub async fn product(&self) -> Result<Product, EnvironmentError> {
        Ok(Product::of(&self.version_text().await?))
    }

    async fn version_text(&self) -> Result<String, EnvironmentError> {
        self.read("SELECT VERSION()")
            .await
            .map_err(|e| self.step("asking its version", e))
    }

    /// Its one database, thrown away and made anew.
    fn recreation(&self) -> [String; 3] {
        let name = self.database();
        [
            format!("SET SESSION lock_wait_timeout = {DROP_LOCK_WAIT_S}"),
            format!("DROP DATABASE IF EXISTS `{name}`"),
            format!("CREATE DATABASE `{name}` CHARACTER SET utf8mb4"),
        ]
    }

    fn step(&self, step: &str, reason: impl std::fmt::Display) -> EnvironmentError {
        EnvironmentError::step(self.name(), step, reason)
    }
}
