//! The proxy's own thread: one runtime for all links and the API.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::JoinHandle;

use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::api;
use super::client::ProxyClient;
use super::collection::Collection;
use super::error::ProxyError;

/// A running proxy. Dropping it closes every link.
#[derive(Debug)]
pub struct ProxyServer {
    address: SocketAddr,
    /// Kernel thread id of the copy loops, for CPU figures.
    thread_id: i32,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread reports once it serves.
type Started = io::Result<(SocketAddr, i32)>;

impl ProxyServer {
    /// Serves the API on `port` of 127.0.0.1 (0 chooses one). `seed` decides toxicity and jitter.
    ///
    /// # Errors
    /// The port is taken, or the thread cannot start.
    pub fn start(port: u16, seed: u64) -> Result<Self, ProxyError> {
        let (started, report) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("fault-proxy".to_owned())
            .spawn(move || run(port, seed, &started, stopped))
            .map_err(|source| ProxyError::Start { source })?;
        let (address, thread_id) = report
            .recv()
            .unwrap_or_else(|_| Err(io::Error::other("its thread ended early")))
            .map_err(|source| ProxyError::Start { source })?;
        Ok(Self {
            address,
            thread_id,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    pub fn client(&self) -> ProxyClient {
        ProxyClient::new(self.address)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn thread_id(&self) -> i32 {
        self.thread_id
    }
}

impl Drop for ProxyServer {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // An error only says that the thread is gone already.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the fault proxy's thread panicked");
        }
    }
}

/// A single-threaded runtime: a wake-up never crosses threads, which is what latency is made of
/// when generator, service and servers share the cores.
fn run(port: u16, seed: u64, started: &mpsc::Sender<Started>, stopped: oneshot::Receiver<()>) {
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return report(started, Err(error)),
    };
    runtime.block_on(async {
        let listener = match TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
            Ok(listener) => listener,
            Err(error) => return report(started, Err(error)),
        };
        report(
            started,
            listener
                .local_addr()
                .map(|a| (a, nix::unistd::gettid().as_raw())),
        );
        let router = api::router(Arc::new(Collection::new(seed)));
        tokio::select! {
            served = axum::serve(listener, router) => {
                if let Err(error) = served {
                    tracing::error!(%error, "the fault proxy's API ended");
                }
            }
            _ = stopped => {}
        }
    });
}

fn report(started: &mpsc::Sender<Started>, result: Started) {
    // Nobody listening means that the starter has given up; the thread then just ends.
    let _ = started.send(result);
}
