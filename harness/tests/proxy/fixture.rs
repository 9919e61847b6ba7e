//! A proxy with one link, `echo`, before a server that sends back what it gets.

use std::net::SocketAddr;
use std::time::Duration;

use flashdrill::proxy::client::LinkRequest;
use flashdrill::proxy::toxic::{Effect, Stream, Toxic};
use flashdrill::proxy::{ProxyClient, ProxyServer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

use super::echo::Echo;

/// Long enough that nothing which should arrive is missed on a busy machine.
pub const SOON: Duration = Duration::from_secs(10);
/// Long enough to see that nothing arrives.
pub const QUIET: Duration = Duration::from_millis(300);

pub struct Fixture {
    _server: ProxyServer,
    pub client: ProxyClient,
    pub api: String,
    pub listen: SocketAddr,
    pub echo: Echo,
}

impl Fixture {
    pub async fn start() -> Self {
        Self::with_seed(1).await
    }

    pub async fn with_seed(seed: u64) -> Self {
        let server = ProxyServer::start(0, seed).unwrap();
        let client = server.client();
        let echo = Echo::start().await;
        let listen = put(&client, "echo", echo.address).await;
        let api = format!("http://{}", server.address());
        Self {
            _server: server,
            client,
            api,
            listen,
            echo,
        }
    }

    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.listen).await.unwrap()
    }

    /// A connection that has carried bytes both ways.
    pub async fn connected(&self) -> TcpStream {
        let mut stream = self.connect().await;
        assert!(echoed(&mut stream, b"before").await);
        stream
    }

    pub async fn add(&self, stream: Stream, effect: Effect) -> String {
        let toxic = Toxic::new(stream, effect);
        self.client.add_toxic("echo", &toxic).await.unwrap();
        toxic.name
    }
}

/// Makes a link at a port of the proxy's choice.
pub async fn put(client: &ProxyClient, name: &str, upstream: SocketAddr) -> SocketAddr {
    let request = LinkRequest::new(name, "127.0.0.1:0", upstream);
    client.put(&request).await.unwrap();
    client.proxy(name).await.unwrap().listen.parse().unwrap()
}

pub async fn echoed(stream: &mut TcpStream, text: &[u8]) -> bool {
    stream.write_all(text).await.is_ok() && arrives(stream, text).await
}

pub async fn arrives(stream: &mut TcpStream, text: &[u8]) -> bool {
    let mut answer = vec![0; text.len()];
    matches!(timeout(SOON, stream.read_exact(&mut answer)).await, Ok(Ok(_)) if answer == text)
}

pub async fn is_quiet(stream: &mut TcpStream) -> bool {
    timeout(QUIET, stream.read(&mut [0; 1])).await.is_err()
}

/// How the next read ends.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    Closed,
    Reset,
    Bytes,
    Nothing,
}

pub async fn end(stream: &mut TcpStream) -> End {
    match timeout(SOON, stream.read(&mut [0; 1])).await {
        Ok(Ok(0)) => End::Closed,
        Ok(Ok(_)) => End::Bytes,
        Ok(Err(_)) => End::Reset,
        Err(_) => End::Nothing,
    }
}

/// Polls until `check` holds.
pub async fn until<F: Future<Output = bool>>(what: &str, mut check: impl FnMut() -> F) {
    let deadline = Instant::now() + SOON;
    while !check().await {
        assert!(Instant::now() < deadline, "{what}: not in time");
        sleep(Duration::from_millis(5)).await;
    }
}
