//! The HTTP server: hyper's HTTP/1.1 with pipelined answers written together, which `axum::serve`
//! does not offer.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::App;
use super::corked::Corked;
use super::door::Door;

/// Open connections get this long to finish their answers at the end.
const GRACE: Duration = Duration::from_secs(3);

/// After a failed accept (no file handles left) the next one is tried this much later.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves until `shutdown` resolves, then lets running answers finish.
pub async fn serve(listener: TcpListener, app: Arc<App>, shutdown: impl Future<Output = ()>) {
    let door = Arc::new(Door::new(app));
    let (ending, end) = watch::channel(false);
    let mut connections = JoinSet::new();
    tokio::pin!(shutdown);
    loop {
        tokio::select! {
            () = &mut shutdown => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => drop(connections.spawn(converse(stream, Arc::clone(&door), end.clone()))),
                Err(error) => {
                    tracing::warn!(%error, "accept failed");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
        }
    }
    drop(listener);
    ending.send_replace(true);
    let finished = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(GRACE, finished).await.is_err() {
        tracing::warn!("connections cut at the end of the grace period");
    }
}

async fn converse(stream: TcpStream, door: Arc<Door>, mut end: watch::Receiver<bool>) {
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let corked = Corked::new(stream);
    let service = service_fn(|request| door.answer(request));
    let connection = http1::Builder::new().serve_connection(TokioIo::new(corked.clone()), service);
    let answering = async {
        let mut connection = pin!(connection);
        tokio::select! {
            ended = connection.as_mut() => return ended,
            _ = end.wait_for(|ending| *ending) => connection.as_mut().graceful_shutdown(),
        }
        connection.await
    };
    let answering = async { answering.await.map_err(io::Error::other) };
    if let Err(error) = corked.drive(answering).await {
        tracing::debug!(%error, "connection ended");
    }
}
