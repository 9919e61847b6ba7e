//! The MySQL-compatible server: data folder, server, database, and a direct way to ask it.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use nix::unistd::geteuid;
use sqlx::mysql::MySqlConnection;
use sqlx::{Connection, Executor, Row};

use super::config;
use super::error::EnvironmentError;
use super::launcher::Launcher;
use super::links;
use super::ports::free_port;
use super::readiness::wait_until;
use super::run_folder::file_error;
use super::server::{Program, Server, ServerSpec};
use crate::proxy::ProxyClient;

const COMPONENT: &str = "mysql";
/// The run of its program that makes the system tables.
const INSTALL: &str = "mysql-install";
/// Loopback only, data thrown away: the password keeps nobody out and is no secret.
const USER: &str = "flashdrill";
const DATABASE: &str = "flashdrill";
const READY_TIMEOUT: Duration = Duration::from_secs(60);
/// Seconds that a forgotten client's lock may hold up the reset.
const DROP_LOCK_WAIT_S: u32 = 5;

/// Run by the server at each start; one statement a line.
const INIT_SQL: &str = "\
CREATE DATABASE IF NOT EXISTS flashdrill CHARACTER SET utf8mb4;
CREATE USER IF NOT EXISTS 'flashdrill'@'127.0.0.%' IDENTIFIED BY 'flashdrill';
GRANT ALL ON *.* TO 'flashdrill'@'127.0.0.%';
";

#[derive(Debug)]
pub struct Mysql {
    pub server: Arc<Server>,
    /// Where it listens; for faults and observers.
    pub port: u16,
    /// The listener of the service's link.
    pub service_port: u16,
}

impl Mysql {
    /// Makes a data folder, starts the server and waits until it answers.
    pub(crate) async fn start(
        launcher: &Arc<Launcher>,
        proxy: &ProxyClient,
    ) -> Result<Self, EnvironmentError> {
        let dir = launcher.folder.make(COMPONENT)?;
        launcher.folder.make(&format!("{COMPONENT}/tmp"))?;
        let init = dir.join("init.sql");
        fs::write(&init, INIT_SQL).map_err(|source| file_error("write", &init, source))?;
        let mysql = super::with_fresh_ports(|| Self::start_server(launcher, &dir)).await?;
        let upstream = SocketAddr::from((Ipv4Addr::LOCALHOST, mysql.port));
        Ok(Self {
            service_port: links::open(proxy, links::MYSQL, upstream).await?,
            ..mysql
        })
    }

    /// Not behind its link yet.
    async fn start_server(launcher: &Arc<Launcher>, dir: &Path) -> Result<Self, EnvironmentError> {
        let port = free_port()?;
        let server = launch(launcher, dir, port).await?;
        let mysql = Self {
            server,
            port,
            service_port: 0,
        };
        mysql.wait_ready().await?;
        Ok(mysql)
    }

    /// Direct, for observers.
    pub fn url(&self) -> String {
        url(self.port)
    }

    /// Through the fault proxy, for the service.
    pub fn service_url(&self) -> String {
        url(self.service_port)
    }

    pub(crate) async fn wait_ready(&self) -> Result<(), EnvironmentError> {
        wait_until(&self.server, READY_TIMEOUT, || async {
            let mut connection = self.connect().await.map_err(|e| e.to_string())?;
            connection.ping().await.map_err(|e| e.to_string())
        })
        .await
    }

    async fn connect(&self) -> Result<MySqlConnection, sqlx::Error> {
        MySqlConnection::connect(&self.url()).await
    }

    /// Throws the database away and makes an empty one.
    pub(crate) async fn recreate_database(&self) -> Result<(), EnvironmentError> {
        let statements = [
            format!("SET SESSION lock_wait_timeout = {DROP_LOCK_WAIT_S}"),
            format!("DROP DATABASE IF EXISTS {DATABASE}"),
            format!("CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4"),
        ];
        self.execute(&statements)
            .await
            .map_err(|e| EnvironmentError::step(COMPONENT, "emptying the database", e))
    }

    async fn execute(&self, statements: &[String]) -> Result<(), sqlx::Error> {
        let mut connection = self.connect_without_database().await?;
        for statement in statements {
            connection.execute(sqlx::raw_sql(statement)).await?;
        }
        Ok(())
    }

    /// The database itself may be missing after a reset that failed half-way.
    async fn connect_without_database(&self) -> Result<MySqlConnection, sqlx::Error> {
        MySqlConnection::connect(url(self.port).trim_end_matches(DATABASE)).await
    }

    pub(crate) async fn tables(&self) -> Result<i64, EnvironmentError> {
        let sql = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()";
        self.read(sql)
            .await
            .map_err(|e| EnvironmentError::step(COMPONENT, "counting tables", e))
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
        let version: String = self
            .read("SELECT VERSION()")
            .await
            .map_err(|e| EnvironmentError::step(COMPONENT, "asking its version", e))?;
        let product = if version.contains("MariaDB") {
            "MariaDB"
        } else {
            "MySQL"
        };
        Ok(format!("{product} {version}"))
    }
}

fn url(port: u16) -> String {
    format!("mysql://{USER}:{USER}@127.0.0.1:{port}/{DATABASE}")
}

async fn launch(
    launcher: &Arc<Launcher>,
    dir: &Path,
    port: u16,
) -> Result<Arc<Server>, EnvironmentError> {
    let file = dir.join("my.cnf");
    let values = [
        ("dir", dir.display().to_string()),
        ("port", port.to_string()),
    ];
    config::write(config::MYSQL, &values, &file)?;
    if !dir.join("data").join("mysql").exists() {
        initialise(launcher, dir, &file).await?;
    }
    let spec = spec(launcher, COMPONENT, Program::Mysql, dir, &file);
    Server::start(launcher, ServerSpec { port, ..spec }).await
}

fn spec(
    launcher: &Launcher,
    component: &str,
    program: Program,
    dir: &Path,
    defaults: &Path,
) -> ServerSpec {
    let mut args = vec![format!("--defaults-file={}", defaults.display())];
    args.extend(root_argument());
    ServerSpec {
        component: component.to_owned(),
        program,
        args,
        env: [("TMPDIR".to_owned(), dir.join("tmp").display().to_string())].into(),
        dir: dir.to_owned(),
        log: launcher.log_file(component),
        port: 0,
    }
}

/// The server refuses to run as root unless told, and must not change its user: that would clear
/// its parent-death signal.
fn root_argument() -> Option<String> {
    geteuid().is_root().then(|| "--user=root".to_owned())
}

/// Makes the system tables.
async fn initialise(
    launcher: &Arc<Launcher>,
    dir: &Path,
    defaults: &Path,
) -> Result<(), EnvironmentError> {
    let (program, options): (_, &[&str]) = match launcher.mariadb_install() {
        Some(install) => (
            Program::Path(install.to_owned()),
            &["--auth-root-authentication-method=normal", "--skip-test-db"],
        ),
        None => (Program::Mysql, &["--initialize-insecure"]),
    };
    let mut spec = spec(launcher, INSTALL, program, dir, defaults);
    spec.args.extend(options.iter().map(|&o| o.to_owned()));
    let install = Server::start(launcher, spec).await?;
    let failed = |reason| {
        let reason = format!("{reason}; {}", install.log_tail());
        EnvironmentError::step(COMPONENT, "making its data folder", reason)
    };
    match install.ended(READY_TIMEOUT).await {
        Some(ending) if ending.is_success() => launcher.folder.forget(INSTALL),
        Some(ending) => Err(failed(ending.to_string())),
        None => Err(failed(format!("not done after {READY_TIMEOUT:?}"))),
    }
}
