//! The proxy's own thread: one runtime for all links and the API.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::JoinHandle;

use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::address::Allowed;
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

/// How to run a proxy.
#[derive(Debug, Clone)]
pub struct ProxyOptions {
    /// Where the API is served; port 0 chooses one.
    pub listen: SocketAddr,
    /// Decides toxicity, jitter and sizes of slices.
    pub seed: u64,
    /// Hosts beyond loopback that links may use.
    pub allow: Vec<String>,
}

/// What the thread reports once it serves.
type Started = io::Result<(SocketAddr, i32)>;

impl ProxyServer {
    /// Serves the API on `port` of 127.0.0.1 (0 chooses one), for links on loopback.
    ///
    /// # Errors
    /// The port is taken, or the thread cannot start.
    pub fn start(port: u16, seed: u64) -> Result<Self, ProxyError> {
        Self::start_with(ProxyOptions {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
            seed,
            allow: Vec::new(),
        })
    }

    /// # Errors
    /// The address is beyond loopback and not allowed, the port is taken, or the thread cannot start.
    pub fn start_with(options: ProxyOptions) -> Result<Self, ProxyError> {
        Allowed::new(options.allow.clone()).listen(&options.listen.to_string())?;
        let (started, report) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("fault-proxy".to_owned())
            .spawn(move || run(options, &started, stopped))
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
fn run(options: ProxyOptions, started: &mpsc::Sender<Started>, stopped: oneshot::Receiver<()>) {
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return report(started, Err(error)),
    };
    runtime.block_on(async {
        let listener = match TcpListener::bind(options.listen).await {
            Ok(listener) => listener,
            Err(error) => return report(started, Err(error)),
        };
        report(
            started,
            listener
                .local_addr()
                .map(|a| (a, nix::unistd::gettid().as_raw())),
        );
        let collection = Arc::new(Collection::new(options.seed, Allowed::new(options.allow)));
        let router = api::router(Arc::clone(&collection));
        tokio::select! {
            served = axum::serve(listener, router) => {
                if let Err(error) = served {
                    tracing::error!(%error, "the fault proxy's API ended");
                }
            }
            () = collection.expire_leases() => {}
            _ = stopped => {}
        }
    });
}

fn report(started: &mpsc::Sender<Started>, result: Started) {
    // Nobody listening means that the starter has given up; the thread then just ends.
    let _ = started.send(result);
}
