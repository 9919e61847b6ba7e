//! Cut points on real servers: what the client saw, and what the server did.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests may panic, as tests do"
)]

mod broker;
#[path = "../servers/broker_client.rs"]
mod broker_client;
#[path = "../servers/broker.rs"]
mod broker_server;
mod mysql;
mod redis;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../servers/mod.rs"]
mod servers;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use flashdrill::proxy::client::LinkRequest;
use flashdrill::proxy::cut::{Action, Cut, CutView, Protocol, Then};
use flashdrill::proxy::{ProxyClient, ProxyServer};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// Long enough that nothing which should arrive is missed on a busy machine.
const SOON: Duration = Duration::from_secs(20);
const LINK: &str = "server";

/// A proxy with one link to a server.
struct Fixture {
    _proxy: ProxyServer,
    client: ProxyClient,
    listen: SocketAddr,
}

async fn link_to(upstream: SocketAddr) -> Fixture {
    let proxy = ProxyServer::start(0, 1).unwrap();
    let client = proxy.client();
    let request = LinkRequest::new(LINK, "127.0.0.1:0", upstream);
    client.put(&request).await.unwrap();
    let listen = client.proxies().await.unwrap()[LINK]
        .listen
        .parse()
        .unwrap();
    Fixture {
        _proxy: proxy,
        client,
        listen,
    }
}

impl Fixture {
    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.listen).await.unwrap()
    }

    /// The cut by this name, once it has fired so often.
    async fn fired(&self, name: &str, times: u64) -> CutView {
        let begun = Instant::now();
        loop {
            let cuts = self.client.cuts(LINK).await.unwrap();
            let cut = cuts.into_iter().find(|view| view.cut.name == name).unwrap();
            if cut.fired >= times {
                return cut;
            }
            assert!(begun.elapsed() < SOON, "{cut:?}");
            sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Everything up to the connection's end, and whether that was a reset. Fails when it does not end.
async fn read_to_end(stream: &mut TcpStream) -> (String, bool) {
    let mut answer = Vec::new();
    let ended = timeout(SOON, stream.read_to_end(&mut answer)).await;
    let is_reset = match ended.expect("the connection ends") {
        Ok(_) => false,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    };
    (String::from_utf8(answer).unwrap(), is_reset)
}

fn lose_reply(protocol: Protocol, at: &str, then: Then) -> Cut {
    Cut::next(protocol, at, Action::LoseReply { then })
}
