//! Redis servers for tests: each a cluster of one node that owns every slot.

use std::path::PathBuf;
use std::process::Child;
use std::time::Duration;

use flashsale::settings::NodeAddress;
use flashsale::stock::connection;
use redis::aio::MultiplexedConnection;

use super::supervised::{free_port, start};

/// A running server. Dropped, it stops.
pub struct RedisNode {
    pub address: NodeAddress,
    folder: PathBuf,
    supervisor: Child,
}

impl RedisNode {
    /// Starts a server and waits until its cluster works.
    pub async fn start() -> Self {
        let port = free_port();
        Self::start_on(port).await
    }

    async fn start_on(port: u16) -> Self {
        let folder = std::env::temp_dir().join(format!("flashsale-redis-{}-{port}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let flag = |name: &str, value: &str| [format!("--{name}"), value.to_owned()];
        let arguments = [
            flag("port", &port.to_string()),
            flag("bind", "127.0.0.1"),
            flag("dir", &folder.display().to_string()),
            flag("save", ""),
            flag("cluster-enabled", "yes"),
            flag("cluster-port", &free_port().to_string()),
            // The next run keeps the node id: only the run id tells it apart.
            flag("cluster-config-file", &format!("../flashsale-nodes-{}-{port}.conf", std::process::id())),
        ];
        let supervisor = start(&folder, "redis-server", arguments.as_flattened());
        let node = Self { address: NodeAddress { host: "127.0.0.1".into(), port }, folder, supervisor };
        node.join().await;
        node
    }

    /// Kills the server and starts another one, empty, at the same address with the same node id.
    pub async fn restart_empty(self) -> Self {
        let port = self.address.port;
        let mut supervisor = self.supervisor;
        drop(supervisor.stdin.take());
        tokio::task::spawn_blocking(move || supervisor.wait()).await.unwrap().unwrap();
        Self::start_on(port).await
    }

    pub async fn connect(&self) -> MultiplexedConnection {
        for _ in 0..200 {
            if let Ok(connection) = connection::open(&self.address).await {
                return connection;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!("Redis did not come up; see server.log in {}", self.folder.display());
    }

    /// Takes all slots, unless an earlier run has, and waits until the cluster works.
    async fn join(&self) {
        let mut connection = self.connect().await;
        let _taken: Result<(), _> =
            redis::cmd("CLUSTER").arg("ADDSLOTSRANGE").arg(0).arg(16383).exec_async(&mut connection).await;
        for _ in 0..200 {
            let info: String =
                redis::cmd("CLUSTER").arg("INFO").query_async(&mut connection).await.unwrap();
            if info.contains("cluster_state:ok") {
                return;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!("the cluster of one does not work");
    }
}
