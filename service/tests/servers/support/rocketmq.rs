//! A name server and a broker from Apache's jars, with flags for a small machine.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::door;
use super::supervised::{Supervised, free_port};

const JAVA: [&str; 5] = [
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
];

/// How clients reach the broker.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// Straight: a dead broker refuses connections.
    Direct,
    /// Through a proxy that accepts in any case.
    BehindProxy,
}

pub struct RocketMq {
    pub namesrv: String,
    folder: PathBuf,
    port: u16,
    route: Route,
    broker: Option<Supervised>,
    _namesrv: Supervised,
}

impl RocketMq {
    pub async fn start(name: &str, route: Route) -> Self {
        let root = std::env::temp_dir().join(format!("flashsale-{name}-{}", std::process::id()));
        let namesrv_port = free_port();
        let namesrv_folder = root.with_extension("namesrv");
        std::fs::create_dir_all(&namesrv_folder).unwrap();
        let config = namesrv_folder.join("namesrv.conf");
        std::fs::write(
            &config,
            format!("listenPort={namesrv_port}\nbindAddress=127.0.0.1\n"),
        )
        .unwrap();
        let mut arguments = java(&namesrv_folder, "64m", "128m");
        arguments.extend([
            "org.apache.rocketmq.namesrv.NamesrvStartup".to_owned(),
            "-c".to_owned(),
            config.display().to_string(),
        ]);
        let namesrv = Supervised::start(&namesrv_folder, "java", &arguments);
        let mut servers = Self {
            namesrv: format!("127.0.0.1:{namesrv_port}"),
            folder: root.with_extension("broker"),
            port: free_port(),
            route,
            broker: None,
            _namesrv: namesrv,
        };
        if route == Route::BehindProxy {
            let listen = SocketAddr::from(([127, 0, 0, 1], servers.port));
            door::open(listen, SocketAddr::from(([127, 0, 0, 2], servers.port))).await;
        }
        servers.start_broker();
        servers
    }

    pub fn start_broker(&mut self) {
        std::fs::create_dir_all(&self.folder).unwrap();
        let config = self.folder.join("broker.conf");
        std::fs::write(&config, self.configuration()).unwrap();
        let mut arguments = java(&self.folder, "256m", "512m");
        arguments.extend([
            "-XX:MaxDirectMemorySize=512m".to_owned(),
            "org.apache.rocketmq.broker.BrokerStartup".to_owned(),
            "-n".to_owned(),
            self.namesrv.clone(),
            "-c".to_owned(),
            config.display().to_string(),
        ]);
        self.broker = Some(Supervised::start(&self.folder, "java", &arguments));
    }

    /// Kill -9.
    pub fn kill_broker(&mut self) {
        self.broker.take().unwrap().kill();
    }

    fn configuration(&self) -> String {
        let bind = match self.route {
            Route::Direct => "127.0.0.1",
            Route::BehindProxy => "127.0.0.2",
        };
        format!(
            "brokerIP1=127.0.0.1\nlistenPort={}\nbindAddress={bind}\nstorePathRootDir={store}\n\
             storePathCommitLog={store}/commitlog\nflushDiskType=SYNC_FLUSH\ntransactionTimeOut=3000\n\
             transactionCheckInterval=1000\ntransactionOpBatchInterval=500\nmappedFileSizeCommitLog=67108864\n\
             maxTransferCountOnMessageInMemory=1024\nmaxTransferBytesOnMessageInMemory=4194304\n",
            self.port,
            store = self.folder.join("store").display(),
        )
    }
}

fn java(home: &Path, heap: &str, heap_max: &str) -> Vec<String> {
    let mut arguments: Vec<String> = JAVA.map(str::to_owned).to_vec();
    arguments.extend([
        format!("-Xms{heap}"),
        format!("-Xmx{heap_max}"),
        format!("-Duser.home={}", home.display()),
        "-cp".to_owned(),
        format!("{}/*", jars().display()),
    ]);
    arguments
}

/// `FLASHDRILL_ROCKETMQ`, else `flashdrill/rocketmq-5.3.3` in the user's cache.
fn jars() -> PathBuf {
    let cache = || {
        std::env::var_os("XDG_CACHE_HOME").map_or_else(
            || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache"),
            PathBuf::from,
        )
    };
    let folder = std::env::var_os("FLASHDRILL_ROCKETMQ")
        .map_or_else(|| cache().join("flashdrill/rocketmq-5.3.3"), PathBuf::from);
    assert!(
        folder.is_dir(),
        "{} has no RocketMQ jars; set FLASHDRILL_ROCKETMQ to the folder that has",
        folder.display()
    );
    folder
}
