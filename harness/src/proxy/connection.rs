//! One proxied connection: dials the upstream and copies both ways until an end closes.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::{Either, select};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;

use super::address::Upstream;
use super::copy::{Ending, copy};
use super::line::{Identity, Line, Rules};
use super::tap::TapSlot;
use super::toxic::Stream;
use super::traffic::{Counters, Meter};

/// A client that waits longer for its upstream has given up.
const DIAL_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a server may take to read what was sent before a close.
const READ_WITHIN: Duration = Duration::from_secs(10);

/// What a link tells a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Close,
    Reset,
}

/// What a connection needs of its link.
#[derive(Debug)]
pub struct Connection {
    pub identity: Identity,
    pub upstream: Arc<Upstream>,
    pub rules: watch::Receiver<Rules>,
    /// The link's.
    pub counters: Arc<Counters>,
    /// The connection's own.
    pub own: Arc<Counters>,
}

impl Connection {
    /// Serves `client` to its end. Dropping the future closes both sockets.
    pub async fn serve(self, mut client: TcpStream, orders: oneshot::Receiver<Order>) {
        let _open = OpenGuard::new(Arc::clone(&self.counters));
        let mut server = None;
        let ending = tokio::select! {
            biased;
            order = orders => match order {
                Ok(Order::Reset) => Ending::Reset,
                Ok(Order::Close) | Err(_) => Ending::Cut,
            },
            ending = self.relay(&mut client, &mut server) => ending,
        };
        match ending {
            Ending::Finished => {}
            Ending::Cut => count(&self.counters.connections_cut),
            Ending::Reset => {
                count(&self.counters.connections_reset);
                reset(&client);
                server.as_ref().map(reset);
            }
            Ending::ResetClient => {
                count(&self.counters.connections_reset);
                reset(&client);
                drop(client);
                if let Some(server) = server {
                    close_read(server).await;
                }
            }
        }
    }

    async fn relay(&self, client: &mut TcpStream, server: &mut Option<TcpStream>) -> Ending {
        let Ok(Ok(dialled)) = timeout(DIAL_TIMEOUT, self.upstream.dial()).await else {
            // Like Toxiproxy: the client's connect succeeded, it now sees a close.
            count(&self.counters.connections_refused);
            return Ending::Finished;
        };
        if client.set_nodelay(true).is_err() {
            return Ending::Finished;
        }
        let taps = Arc::default();
        let (from_client, to_client) = client.split();
        let (from_server, to_server) = server.insert(dialled).split();
        let up = self.line(Stream::Upstream, &taps);
        let down = self.line(Stream::Downstream, &taps);
        let up = pin!(copy(from_client, to_server, up, self.rules.clone()));
        let down = pin!(copy(from_server, to_client, down, self.rules.clone()));
        match select(up, down).await {
            Either::Left((Ending::Finished, other)) => other.await,
            Either::Right((Ending::Finished, other)) => other.await,
            Either::Left((ending, _)) | Either::Right((ending, _)) => ending,
        }
    }

    fn line(&self, stream: Stream, taps: &Arc<TapSlot>) -> Line {
        let meter = Meter {
            stream,
            link: Arc::clone(&self.counters),
            connection: Arc::clone(&self.own),
        };
        Line::new(self.identity.clone(), Arc::clone(taps), meter)
    }
}

/// A connection as `GET /proxies/{name}/connections` lists it, an addition to Toxiproxy's API.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ConnectionView {
    /// Counts the link's connections from 0.
    pub id: u64,
    pub client: SocketAddr,
    pub age_ms: u64,
    pub upstream: super::traffic::DirectionTraffic,
    pub downstream: super::traffic::DirectionTraffic,
}

/// Closes in order, and reads what still comes: a socket that is dropped with bytes to read discards what it has not
/// sent yet.
async fn close_read(mut server: TcpStream) {
    let closing = async {
        server.shutdown().await?;
        tokio::io::copy(&mut server, &mut tokio::io::sink()).await
    };
    // Its errors say that the server is gone.
    let _ = timeout(READ_WITHIN, closing).await;
}

/// Closing then sends a RST. It only fails on a socket that is gone.
fn reset(stream: &TcpStream) {
    if let Err(error) = stream.set_zero_linger() {
        tracing::debug!(%error, "cannot reset a connection");
    }
}

fn count(counter: &std::sync::atomic::AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// Keeps the count of open connections right however the connection ends.
struct OpenGuard(Arc<Counters>);

impl OpenGuard {
    fn new(counters: Arc<Counters>) -> Self {
        counters.connections_open.fetch_add(1, Ordering::Relaxed);
        count(&counters.connections_total);
        Self(counters)
    }
}

impl Drop for OpenGuard {
    fn drop(&mut self) {
        self.0.connections_open.fetch_sub(1, Ordering::Relaxed);
    }
}
