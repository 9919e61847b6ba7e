//! The listener of a link: opened and closed with the link, and what it does with a connect.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinHandle;

use super::super::blockade;
use super::super::connection::{Connection, Order};
use super::super::error::ProxyError;
use super::super::line::Identity;
use super::super::toxic::Toxic;
use super::super::traffic::Counters;
use super::{Link, lock};

/// Pending connects; a service that reconnects all its pools at once must not be dropped.
const BACKLOG: u32 = 1024;

#[derive(Debug)]
pub(super) struct Acceptor {
    pub(super) listener: Arc<TcpListener>,
    task: JoinHandle<()>,
}

impl Link {
    /// # Errors
    /// The address cannot be bound: somebody has taken the port.
    pub fn enable(self: &Arc<Self>) -> Result<(), ProxyError> {
        let mut acceptor = lock(&self.acceptor);
        if acceptor.is_none() {
            let listen = self.listen();
            let (listener, bound) =
                listen_on(listen, &self.rules.borrow().toxics).map_err(|source| {
                    ProxyError::Listen {
                        name: self.name.clone(),
                        listen,
                        source,
                    }
                })?;
            *lock(&self.listen) = bound;
            *acceptor = Some(self.accept_from(listener));
        }
        *lock(&self.disabled_by) = None;
        Ok(())
    }

    /// Closes the listener and every connection; connects are refused once it returns.
    pub async fn disable(&self, lease: Option<String>) {
        let acceptor = lock(&self.acceptor).take();
        if let Some(Acceptor { listener, task }) = acceptor {
            task.abort();
            // The task holds the listener until it is gone, not until it is told to go.
            let _ = task.await;
            drop(listener);
        }
        *lock(&self.disabled_by) = lease;
        self.connections.end(Order::Close, |_| true);
    }

    fn accept_from(self: &Arc<Self>, listener: TcpListener) -> Acceptor {
        let listener = Arc::new(listener);
        let task = tokio::spawn(Arc::clone(self).accept(Arc::clone(&listener)));
        Acceptor { listener, task }
    }

    async fn accept(self: Arc<Self>, listener: Arc<TcpListener>) {
        loop {
            match listener.accept().await {
                Ok((stream, client)) => self.admit(stream, client),
                Err(error) => {
                    // Out of file descriptors, most likely: waiting is all that helps.
                    tracing::warn!(link = self.name, %error, "cannot accept");
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            }
        }
    }

    /// The dial happens in the connection's own task, never in the accept loop.
    fn admit(self: &Arc<Self>, stream: TcpStream, client: SocketAddr) {
        let counters: Arc<Counters> = Arc::default();
        let (id, orders) = self.connections.enter(client, Arc::clone(&counters));
        let connection = Connection {
            identity: Identity {
                seed: self.seed,
                connection: id,
                client,
            },
            upstream: Arc::clone(&self.upstream),
            rules: self.rules.subscribe(),
            counters: Arc::clone(&self.counters),
            own: counters,
        };
        let link = Arc::clone(self);
        tokio::spawn(async move {
            connection.serve(stream, orders).await;
            link.connections.leave(id);
        });
    }
}

fn listen_on(address: SocketAddr, toxics: &[Toxic]) -> io::Result<(TcpListener, SocketAddr)> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    blockade::enforce(&socket, toxics)?;
    let listener = socket.listen(BACKLOG)?;
    let bound = listener.local_addr()?;
    Ok((listener, bound))
}
