//! Redis servers for tests: each a cluster of one node that owns every slot.

use std::path::PathBuf;
use std::time::Duration;

use flashsale::settings::NodeAddress;
use flashsale::stock::connection;
use redis::aio::MultiplexedConnection;

use super::supervised::{Supervised, free_port};

/// A running server. Dropped, it stops.
pub struct RedisNode {
    pub address: NodeAddress,
    arguments: Vec<String>,
    folder: PathBuf,
    server: Supervised,
}

impl RedisNode {
    /// Starts a server and waits until its cluster works.
    pub async fn start() -> Self {
        let port = free_port();
        let name = format!("flashsale-redis-{}-{port}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let flag = |name: &str, value: &str| [format!("--{name}"), value.to_owned()];
        let arguments = [
            flag("port", &port.to_string()),
            flag("bind", "127.0.0.1"),
            flag("dir", &folder.display().to_string()),
            flag("save", ""),
            flag("cluster-enabled", "yes"),
            flag("cluster-port", &free_port().to_string()),
        ];
        let arguments = arguments.as_flattened().to_vec();
        let address = NodeAddress {
            host: "127.0.0.1".into(),
            port,
        };
        Self::up(address, arguments, folder).await
    }

    async fn up(address: NodeAddress, arguments: Vec<String>, folder: PathBuf) -> Self {
        let server = Supervised::start(&folder, "redis-server", &arguments);
        let node = Self {
            address,
            arguments,
            folder,
            server,
        };
        node.join().await;
        node
    }

    /// Kill -9, then another process at the same address, with the same node id and no data.
    pub async fn restart_empty(self) -> Self {
        let Self {
            address,
            arguments,
            folder,
            server,
        } = self;
        tokio::task::spawn_blocking(move || server.kill())
            .await
            .unwrap();
        Self::up(address, arguments, folder).await
    }

    pub async fn connect(&self) -> MultiplexedConnection {
        for _ in 0..200 {
            if let Ok(connection) = connection::open(&self.address).await {
                return connection;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!(
            "Redis did not come up; see server.log in {}",
            self.folder.display()
        );
    }

    /// Takes all slots, unless an earlier run has, and waits until the cluster works.
    async fn join(&self) {
        let mut redis = self.connect().await;
        let mut take = redis::cmd("CLUSTER");
        let _taken: Result<(), _> = take
            .arg("ADDSLOTSRANGE")
            .arg(0)
            .arg(16383)
            .exec_async(&mut redis)
            .await;
        for _ in 0..200 {
            let info: String = redis::cmd("CLUSTER")
                .arg("INFO")
                .query_async(&mut redis)
                .await
                .unwrap();
            if info.contains("cluster_state:ok") {
                return;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!("the cluster of one does not work");
    }
}
