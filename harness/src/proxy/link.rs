//! One proxy in Toxiproxy's sense: a listener, its upstream, its toxics and its live connections.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::{AbortHandle, JoinHandle};

use super::connection::Connection;
use super::copy::Toxics;
use super::error::ProxyError;
use super::toxic::{Effect, Toxic};
use super::traffic::{Counters, Traffic};

/// Pending connects; a service that reconnects all its pools at once must not be dropped.
const BACKLOG: u32 = 1024;

/// A proxy as the API shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkView {
    pub name: String,
    pub listen: String,
    pub upstream: String,
    pub enabled: bool,
    pub toxics: Vec<Toxic>,
}

/// Must be used inside the proxy's runtime: it spawns its tasks there.
#[derive(Debug)]
pub struct Link {
    name: String,
    seed: u64,
    upstream: SocketAddr,
    /// With port 0 replaced by the real one, so that re-enabling comes back at the same place.
    listen: SocketAddr,
    acceptor: Mutex<Option<JoinHandle<()>>>,
    toxics: Arc<Toxics>,
    counters: Arc<Counters>,
    connections: Mutex<HashMap<u64, AbortHandle>>,
    connection_next: AtomicU64,
}

impl Link {
    /// # Errors
    /// The listener's address cannot be bound.
    pub fn open(
        name: &str,
        listen: SocketAddr,
        upstream: SocketAddr,
        enabled: bool,
        seed: u64,
    ) -> Result<Arc<Self>, ProxyError> {
        let listener = listen_on(listen).map_err(|source| listen_error(name, listen, source))?;
        let listen = listener
            .local_addr()
            .map_err(|source| listen_error(name, listen, source))?;
        let link = Arc::new(Self {
            name: name.to_owned(),
            seed,
            upstream,
            listen,
            acceptor: Mutex::default(),
            toxics: Arc::default(),
            counters: Arc::default(),
            connections: Mutex::default(),
            connection_next: AtomicU64::new(0),
        });
        if enabled {
            *lock(&link.acceptor) = Some(tokio::spawn(Arc::clone(&link).accept(listener)));
        }
        Ok(link)
    }

    pub fn view(&self) -> LinkView {
        LinkView {
            name: self.name.clone(),
            listen: self.listen.to_string(),
            upstream: self.upstream.to_string(),
            enabled: lock(&self.acceptor).is_some(),
            toxics: self.toxics.list(),
        }
    }

    pub fn listen(&self) -> SocketAddr {
        self.listen
    }

    pub fn upstream(&self) -> SocketAddr {
        self.upstream
    }

    pub fn traffic(&self) -> Traffic {
        self.counters.read()
    }

    /// # Errors
    /// The listener's port was taken while the link was down.
    pub fn enable(self: &Arc<Self>) -> Result<(), ProxyError> {
        let mut acceptor = lock(&self.acceptor);
        if acceptor.is_none() {
            let listener = listen_on(self.listen)
                .map_err(|source| listen_error(&self.name, self.listen, source))?;
            *acceptor = Some(tokio::spawn(Arc::clone(self).accept(listener)));
        }
        Ok(())
    }

    /// Closes the listener and every connection; connects are refused once it returns.
    pub async fn disable(&self) {
        let acceptor = lock(&self.acceptor).take();
        if let Some(acceptor) = acceptor {
            acceptor.abort();
            // The listener is closed when the task is gone, not when it is told to go.
            let _ = acceptor.await;
        }
        for (_, connection) in lock(&self.connections).drain() {
            connection.abort();
        }
    }

    /// # Errors
    /// A toxic of that name is there already.
    pub fn add_toxic(self: &Arc<Self>, toxic: Toxic) -> Result<Toxic, ProxyError> {
        let toxic = toxic.named();
        let added = self.toxics.change(|list| {
            let free = list.iter().all(|t| t.name != toxic.name);
            if free {
                list.push(toxic.clone());
            }
            free
        });
        if !added {
            return Err(ProxyError::ToxicExists {
                proxy: self.name.clone(),
                toxic: toxic.name,
            });
        }
        let ids: Vec<u64> = lock(&self.connections).keys().copied().collect();
        for id in ids {
            self.close_in_time(&toxic, id);
        }
        Ok(toxic)
    }

    pub fn toxic(&self, name: &str) -> Result<Toxic, ProxyError> {
        self.toxics
            .list()
            .into_iter()
            .find(|t| t.name == name)
            .ok_or_else(|| self.no_toxic(name))
    }

    pub fn toxics(&self) -> Vec<Toxic> {
        self.toxics.list()
    }

    /// Replaces the toxic of the same name.
    pub fn update_toxic(self: &Arc<Self>, toxic: Toxic) -> Result<Toxic, ProxyError> {
        self.remove_toxic(&toxic.name)?;
        self.add_toxic(toxic)
    }

    /// Connections that a black hole had swallowed bytes of cannot go on: they are closed.
    pub fn remove_toxic(&self, name: &str) -> Result<(), ProxyError> {
        let removed = self
            .toxics
            .change(|list| {
                list.iter()
                    .position(|t| t.name == name)
                    .map(|at| list.remove(at))
            })
            .ok_or_else(|| self.no_toxic(name))?;
        self.close_hit_by(&removed);
        Ok(())
    }

    pub fn remove_all_toxics(&self) {
        for removed in self.toxics.change(std::mem::take) {
            self.close_hit_by(&removed);
        }
    }

    async fn accept(self: Arc<Self>, listener: TcpListener) {
        loop {
            match listener.accept().await {
                Ok((client, _)) => self.admit(client),
                Err(error) => {
                    // Out of file descriptors, most likely: waiting is all that helps.
                    tracing::warn!(link = self.name, %error, "cannot accept");
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            }
        }
    }

    /// The dial happens in the connection's own task, never in the accept loop.
    fn admit(self: &Arc<Self>, client: TcpStream) {
        let id = self.connection_next.fetch_add(1, Ordering::Relaxed);
        let connection = Connection {
            id,
            upstream: self.upstream,
            seed: self.seed,
            toxics: Arc::clone(&self.toxics),
            counters: Arc::clone(&self.counters),
        };
        let link = Arc::clone(self);
        // The lock is held over the spawn, so that the task's removal cannot come before the insert.
        let mut connections = lock(&self.connections);
        let task = tokio::spawn(async move {
            connection.serve(client).await;
            lock(&link.connections).remove(&id);
        });
        connections.insert(id, task.abort_handle());
        drop(connections);
        for toxic in self.toxics.list() {
            self.close_in_time(&toxic, id);
        }
    }

    /// Starts the clock of a black hole that closes its connections.
    fn close_in_time(self: &Arc<Self>, toxic: &Toxic, id: u64) {
        match toxic.effect {
            Effect::Timeout { timeout } if timeout > 0 && toxic.hits(self.seed, id) => {
                let link = Arc::clone(self);
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(timeout)).await;
                    if let Some(connection) = lock(&link.connections).remove(&id) {
                        connection.abort();
                    }
                });
            }
            _ => {}
        }
    }

    fn close_hit_by(&self, removed: &Toxic) {
        if matches!(removed.effect, Effect::Latency { .. }) {
            return;
        }
        lock(&self.connections).retain(|id, connection| {
            let hit = removed.hits(self.seed, *id);
            if hit {
                connection.abort();
            }
            !hit
        });
    }

    fn no_toxic(&self, name: &str) -> ProxyError {
        ProxyError::NoSuchToxic {
            proxy: self.name.clone(),
            toxic: name.to_owned(),
        }
    }
}

fn listen_on(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

fn listen_error(name: &str, listen: SocketAddr, source: io::Error) -> ProxyError {
    ProxyError::Listen {
        name: name.to_owned(),
        listen,
        source,
    }
}

/// A panic of another task must not make the proxy unusable; the maps stay consistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
