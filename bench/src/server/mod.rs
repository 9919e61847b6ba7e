//! The measured server: one thread, HTTP/1.1, the same small answer to every request. It keeps a log of when
//! it answered, from which requests are counted and the truth is found, and it can freeze on purpose.

mod freezer;
mod log;

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::{io, thread};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::oneshot;

pub use freezer::Freezes;
pub use log::{Freeze, ServerLog};

use crate::machine;
use crate::request::PATH;
use log::Recorder;

/// As long as the refusal that most requests of a flash sale get.
const ANSWER: &[u8] = br#"{"reason":"sold_out"}"#;
/// Tools that open a connection for every waiting request open thousands at once; the kernel may allow less.
const BACKLOG: u32 = 65_535;

/// How a server behaves.
#[derive(Debug, Clone, Copy, Default)]
pub struct Setup {
    /// The core it is pinned to.
    pub core: Option<usize>,
    pub freezes: Option<Freezes>,
}

/// A running server. It ends when it is dropped.
#[derive(Debug)]
pub struct Server {
    pub address: SocketAddr,
    recorder: Arc<Recorder>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts a server on a free loopback port, with an empty log.
    ///
    /// # Errors
    /// No thread, port or runtime can be had, or the core cannot be pinned to.
    pub fn start(setup: Setup) -> io::Result<Self> {
        let recorder = Arc::new(Recorder::default());
        let (stop, stopped) = oneshot::channel();
        let (ready, address) = mpsc::channel();
        let thread = thread::Builder::new().name("server".into()).spawn({
            let recorder = Arc::clone(&recorder);
            move || {
                if let Err(error) = serve(setup, recorder, stopped, &ready) {
                    // Nobody listens any more once the address is known.
                    let _ = ready.send(Err(error));
                }
            }
        })?;
        let address = address
            .recv()
            .map_err(|_| io::Error::other("the server's thread ended before it was ready"))??;
        Ok(Self {
            address,
            recorder,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Where requests go.
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Stops the server; answers what it has logged.
    pub fn finish(self) -> ServerLog {
        let recorder = Arc::clone(&self.recorder);
        drop(self);
        recorder.take()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The thread has ended already when nobody takes it.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(
    setup: Setup,
    recorder: Arc<Recorder>,
    stopped: oneshot::Receiver<()>,
    ready: &mpsc::Sender<io::Result<SocketAddr>>,
) -> io::Result<()> {
    if let Some(core) = setup.core {
        machine::pin_this_thread(core)?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = listen()?;
        // The starter waits for this message.
        let _ = ready.send(listener.local_addr());
        if let Some(freezes) = setup.freezes {
            tokio::spawn(freezer::freeze(freezes, Arc::clone(&recorder)));
        }
        tokio::spawn(accept(listener, recorder));
        // An error says that the server's owner is gone, which means stop too.
        let _ = stopped.await;
        Ok(())
    })
}

fn listen() -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
    socket.listen(BACKLOG)
}

async fn accept(listener: TcpListener, recorder: Arc<Recorder>) {
    loop {
        // A failed accept is the client's loss: its request is not counted.
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        // Without it answers would wait for the client's acknowledgements; with it a slow one costs nothing.
        let _ = stream.set_nodelay(true);
        let recorder = Arc::clone(&recorder);
        let service = service_fn(move |request| answer(request, Arc::clone(&recorder)));
        let connection = http1::Builder::new()
            .pipeline_flush(true)
            .serve_connection(TokioIo::new(stream), service);
        // Tools reset their connections at the end; that is no fault.
        tokio::spawn(async move { connection.await.unwrap_or_default() });
    }
}

async fn answer(
    request: Request<Incoming>,
    recorder: Arc<Recorder>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    // A body that ends early is followed by the end of the connection: nobody gets this answer.
    let _ = request.into_body().collect().await;
    recorder.answered();
    let mut response = Response::new(Full::new(Bytes::from_static(ANSWER)));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}
