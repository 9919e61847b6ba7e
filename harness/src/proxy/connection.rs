//! One proxied connection: dials the upstream and copies both ways until an end closes.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

use super::copy::{Direction, Toxics, copy};
use super::toxic::Stream;
use super::traffic::Counters;

/// Servers see proxied clients come from this address, so that a client that bypasses the proxy
/// can be told from them.
pub const DIAL_FROM: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 3);

/// What a connection needs of its link.
#[derive(Debug)]
pub struct Connection {
    pub id: u64,
    pub upstream: SocketAddr,
    pub seed: u64,
    pub toxics: Arc<Toxics>,
    pub counters: Arc<Counters>,
}

impl Connection {
    /// Serves `client` to its end. Dropping the future closes both sockets.
    pub async fn serve(self, client: TcpStream) {
        let _open = OpenGuard::new(Arc::clone(&self.counters));
        let Ok(server) = dial(self.upstream).await else {
            // Like Toxiproxy: the client's connect succeeded, it now sees a close.
            tracing::debug!(upstream = %self.upstream, "upstream refused");
            return;
        };
        if let Err(error) = client.set_nodelay(true) {
            tracing::debug!(%error, "client is gone already");
            return;
        }
        let (from_client, to_client) = client.into_split();
        let (from_server, to_server) = server.into_split();
        let mut directions = JoinSet::new();
        directions.spawn(copy(
            from_client,
            to_server,
            self.direction(Stream::Upstream),
        ));
        directions.spawn(copy(
            from_server,
            to_client,
            self.direction(Stream::Downstream),
        ));
        while let Some(Ok(Ok(()))) = directions.join_next().await {}
    }

    fn direction(&self, stream: Stream) -> Direction {
        Direction {
            stream,
            connection: self.id,
            seed: self.seed,
            toxics: Arc::clone(&self.toxics),
            counters: Arc::clone(&self.counters),
        }
    }
}

async fn dial(upstream: SocketAddr) -> io::Result<TcpStream> {
    let socket = match upstream.ip() {
        IpAddr::V4(_) => {
            let socket = TcpSocket::new_v4()?;
            socket.bind(SocketAddr::from((DIAL_FROM, 0)))?;
            socket
        }
        IpAddr::V6(_) => TcpSocket::new_v6()?,
    };
    let stream = socket.connect(upstream).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Keeps the count of open connections right however the connection ends.
struct OpenGuard(Arc<Counters>);

impl OpenGuard {
    fn new(counters: Arc<Counters>) -> Self {
        counters.connections_open.fetch_add(1, Ordering::Relaxed);
        counters.connections_total.fetch_add(1, Ordering::Relaxed);
        Self(counters)
    }
}

impl Drop for OpenGuard {
    fn drop(&mut self) {
        self.0.connections_open.fetch_sub(1, Ordering::Relaxed);
    }
}
