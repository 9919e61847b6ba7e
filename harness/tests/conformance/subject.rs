//! The two proxies under test.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use flashdrill::proxy::client::LinkRequest;
use flashdrill::proxy::{ProxyClient, ProxyServer};

const START_WITHIN: Duration = Duration::from_secs(20);

pub enum Subject {
    BuiltIn(ProxyServer),
    Toxiproxy(Server),
}

/// A running toxiproxy-server.
pub struct Server {
    child: Child,
    address: SocketAddr,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Subject {
    pub fn built_in() -> Self {
        Self::BuiltIn(ProxyServer::start(0, 1).unwrap())
    }

    /// `None`, and a line that `.ci/run` counts, where it is not installed.
    pub async fn toxiproxy() -> Option<Self> {
        let Some(program) = program() else {
            // Past the capture of tests that pass.
            let mut stderr = std::io::stderr();
            let _ = writeln!(
                stderr,
                "skipped: 1 (no toxiproxy-server; compose/install-toxiproxy.sh installs it)"
            );
            return None;
        };
        let port = free_port();
        let child = Command::new(program)
            .args([
                "-host",
                "127.0.0.1",
                "-port",
                &port.to_string(),
                "-proxy-metrics",
            ])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let server = Server { child, address };
        let client = ProxyClient::new(address);
        let begun = Instant::now();
        while client.version().await.is_err() {
            assert!(
                begun.elapsed() < START_WITHIN,
                "toxiproxy-server does not answer"
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Some(Self::Toxiproxy(server))
    }

    pub fn address(&self) -> SocketAddr {
        match self {
            Self::BuiltIn(server) => server.address(),
            Self::Toxiproxy(server) => server.address,
        }
    }

    pub fn client(&self) -> ProxyClient {
        ProxyClient::new(self.address())
    }

    /// A link of that name to `upstream`; where it listens.
    pub async fn link(&self, name: &str, upstream: SocketAddr) -> SocketAddr {
        let request = LinkRequest::new(name, "127.0.0.1:0", upstream);
        self.client().put(&request).await.unwrap();
        self.client()
            .proxy(name)
            .await
            .unwrap()
            .listen
            .parse()
            .unwrap()
    }
}

/// Outside the range from which the kernel takes the ports of outgoing connections: those come and go.
pub fn free_port() -> u16 {
    flashdrill::environment::free_port().unwrap()
}

/// Where `make test` puts it, or on the search path.
fn program() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    let tools = cache.map(|cache| cache.join("flashdrill/tools/bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = tools.into_iter().chain(std::env::split_paths(&path));
    folders
        .map(|folder| folder.join("toxiproxy-server"))
        .find(|program| program.is_file())
}
