//! One MariaDB for all tests, one database per test; a server of its own for who changes the server.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use flashsale::sale::sku::Rules;
use flashsale::store::{Shards, StockStrategy, StockTables, Store, StoreError};
use sqlx::{ConnectOptions, Connection};

use super::supervised::{Supervised, free_port};

pub struct Server {
    port: u16,
    _server: Supervised,
}

impl Server {
    /// One that nobody else uses.
    pub async fn start() -> Self {
        tokio::task::spawn_blocking(boot).await.unwrap()
    }

    /// URL of its administrator, in no database.
    pub fn root(&self) -> String {
        format!("mysql://root@127.0.0.1:{}", self.port)
    }

    /// URL of a new, empty database.
    pub async fn database(&self) -> String {
        let root = self.root();
        let name = format!("flash_{}", DATABASES.fetch_add(1, Ordering::Relaxed));
        let mut connection = connect(&root).await;
        for sql in [
            format!("CREATE USER IF NOT EXISTS {NODE}"),
            format!("CREATE DATABASE {name}"),
        ] {
            let done = sqlx::raw_sql(&sql).execute(&mut connection).await;
            done.unwrap();
        }
        connection.close().await.unwrap();
        format!("{root}/{name}")
    }
}

/// The nodes' account. It has no rights but those that the owner of the tables gives it.
const NODE: &str = "node";

static SERVER: OnceLock<Server> = OnceLock::new();
static DATABASES: AtomicU32 = AtomicU32::new(0);

/// URL of a new, empty database.
pub async fn database() -> String {
    let server = tokio::task::spawn_blocking(|| SERVER.get_or_init(boot))
        .await
        .unwrap();
    server.database().await
}

/// As the service lays its stock out by itself.
pub const TABLES: StockTables = StockTables {
    shards: Shards::ALL,
    strategy: StockStrategy::Conditional,
};

/// A node's store in the database of this URL, whose owner it names: with no more rights than a node has.
///
/// # Errors
/// As [`Store::open`].
pub async fn open(url: &str, tables: StockTables) -> Result<Store, StoreError> {
    Store::open(&node_url(url), Some(url), tables).await
}

/// The same database, by the account of the nodes.
pub fn node_url(url: &str) -> String {
    url.replace("root@", &format!("{NODE}@"))
}

/// A store in a database of its own.
pub async fn store() -> Store {
    open(&database().await, TABLES).await.unwrap()
}

/// A store with one sale and its SKUs, each with its units.
pub async fn selling(sale: &str, rules: Rules, skus: &[(&str, i64)]) -> Store {
    selling_at(&database().await, sale, rules, skus).await
}

/// The same in a database of the caller's.
pub async fn selling_at(url: &str, sale: &str, rules: Rules, skus: &[(&str, i64)]) -> Store {
    let store = open(url, TABLES).await.unwrap();
    store.put_sale(sale, rules).await.unwrap();
    for (sku, stock) in skus {
        store.put_sku(sale, sku, *stock).await.unwrap();
    }
    store
}

/// A connection beside the store, waiting for the server to come up.
pub async fn connect(url: &str) -> sqlx::MySqlConnection {
    let options: sqlx::mysql::MySqlConnectOptions = url.parse().unwrap();
    for _ in 0..300 {
        if let Ok(connection) = options.connect().await {
            return connection;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("MariaDB did not come up; see server.log in the test's folder");
}

fn boot() -> Server {
    let port = free_port();
    let name = format!("flashsale-mariadb-{}-{port}", std::process::id());
    let folder: PathBuf = std::env::temp_dir().join(name);
    // Its own: a server that starts removes the temporary tables it finds, those of one that starts beside it included.
    let temporary = folder.join("tmp");
    std::fs::create_dir_all(&temporary).unwrap();
    let data = folder.join("data");
    let data_flag = format!("--datadir={}", data.display());
    let installed = Command::new("mariadb-install-db")
        .args(["--no-defaults", "--skip-test-db"])
        .args(["--auth-root-authentication-method=normal"])
        .arg(&data_flag)
        .env("TMPDIR", &temporary)
        .output()
        .unwrap();
    assert!(installed.status.success(), "{installed:?}");
    let arguments = [
        "--no-defaults".to_owned(),
        data_flag,
        format!("--tmpdir={}", temporary.display()),
        format!("--port={port}"),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--socket={}", folder.join("socket").display()),
        "--skip-name-resolve".to_owned(),
        // Each store of each test that runs has up to 24.
        "--max-connections=500".to_owned(),
        "--user=root".to_owned(),
        "--innodb-flush-log-at-trx-commit=2".to_owned(),
    ];
    Server {
        port,
        _server: Supervised::start(&folder, "mariadbd", &arguments),
    }
}
