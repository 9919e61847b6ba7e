//! MySQL-compatible servers, each with its data folder, its server and a direct way to ask it: the primary, and
//! the [`MysqlReplica`] that follows it.

mod launch;
mod product;
mod replica;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use sqlx::mysql::MySqlConnection;
use sqlx::{Connection, Executor, Row};

pub use product::Product;
pub use replica::{MysqlReplica, ReplicaStatus};

use launch::Role;

use super::error::EnvironmentError;
use super::launcher::Launcher;
use super::readiness::wait_until;
use super::server::Server;
use crate::proxy::ProxyClient;

/// Ours: may do everything. Loopback only, data thrown away: the passwords keep nobody out and are no secrets.
const USER: &str = "flashdrill";
/// The service's: owns the database and nothing else, so that it obeys `read_only` and connection limits.
const SERVICE_USER: &str = "service";
const DATABASE: &str = "flashdrill";
const READY_TIMEOUT: Duration = Duration::from_secs(60);
/// Seconds that a forgotten client's lock may hold up the reset.
const DROP_LOCK_WAIT_S: u32 = 5;

/// One server.
#[derive(Debug)]
pub struct Mysql {
    pub server: Arc<Server>,
    /// Where it listens; for faults and observers.
    pub port: u16,
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
            let (server, port) = launch::launch(launcher, role, &dir).await?;
            let mysql = Self { server, port };
            mysql.wait_ready().await?;
            Ok(mysql)
        })
        .await
    }

    /// Its name in logs and reports.
    pub fn name(&self) -> &str {
        self.server.component()
    }

    pub fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.port))
    }

    /// Direct, for observers.
    pub fn url(&self) -> String {
        url(USER, self.port)
    }

    /// For the service, through a link that listens at `port`.
    pub(super) fn service_url(port: u16) -> String {
        url(SERVICE_USER, port)
    }

    /// Direct, with the service's rights.
    pub(crate) fn service_account_url(&self) -> String {
        url(SERVICE_USER, self.port)
    }

    /// Whom the service connects as.
    pub(crate) fn service_account(&self) -> &'static str {
        SERVICE_USER
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
        MySqlConnection::connect(self.url().trim_end_matches(DATABASE)).await
    }

    /// Throws the database away and makes an empty one.
    pub(crate) async fn recreate_database(&self) -> Result<(), EnvironmentError> {
        self.execute(recreation())
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
            "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = '{DATABASE}'"
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

    fn step(&self, step: &str, reason: impl std::fmt::Display) -> EnvironmentError {
        EnvironmentError::step(self.name(), step, reason)
    }
}

fn url(user: &str, port: u16) -> String {
    format!("mysql://{user}:{user}@127.0.0.1:{port}/{DATABASE}")
}

fn recreation() -> [String; 3] {
    [
        format!("SET SESSION lock_wait_timeout = {DROP_LOCK_WAIT_S}"),
        format!("DROP DATABASE IF EXISTS {DATABASE}"),
        format!("CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4"),
    ]
}
