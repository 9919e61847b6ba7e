//! A connection that writes its answers together.
//!
//! Whoever pipelines requests has most of them refused within microseconds, and a write for each would cost as much as all the
//! rest. hyper's own way to spare them holds an answer back for as long as the next request has none, which for one that goes
//! to the queue is a long time. Here they go out as soon as the connection has to wait, for whatever it is.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, BufWriter, ReadBuf};

/// Bytes of answers that wait for others: more than those of the sixteen requests that hyper answers in a row.
const FULL: usize = 16 * 1024;

/// The stream, which nothing but [`Self::drive`] flushes. Clones share it; only one task uses them, so the lock is always
/// free.
pub struct Corked<S> {
    stream: Arc<Mutex<BufWriter<S>>>,
}

impl<S> Clone for Corked<S> {
    fn clone(&self) -> Self {
        Self {
            stream: Arc::clone(&self.stream),
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Corked<S> {
    pub fn new(stream: S) -> Self {
        Self {
            stream: Arc::new(Mutex::new(BufWriter::with_capacity(FULL, stream))),
        }
    }

    /// Runs what reads from and writes to this stream; whenever it has to wait, what it has written goes out.
    ///
    /// # Errors
    /// Its own, and those of writing.
    pub async fn drive(&self, connection: impl Future<Output = io::Result<()>>) -> io::Result<()> {
        let mut connection = pin!(connection);
        poll_fn(|cx| {
            if let Poll::Ready(ended) = connection.as_mut().poll(cx) {
                return Poll::Ready(ended);
            }
            match Pin::new(&mut *self.lock()).poll_flush(cx) {
                Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
                _ => Poll::Pending,
            }
        })
        .await
    }

    fn lock(&self) -> MutexGuard<'_, BufWriter<S>> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Corked<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.lock()).poll_read(cx, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Corked<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.lock()).poll_write(cx, bytes)
    }

    /// Does nothing: [`Self::drive`] does it.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.lock()).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use axum::body::Body;
    use axum::http::{Request, Response};
    use hyper::body::Incoming;
    use hyper::server::conn::http1;
    use hyper::service::service_fn;
    use hyper_util::rt::TokioIo;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio::time::timeout;

    use super::*;

    /// Serves a stream that holds this many bytes; answers all requests but those for `/slow`.
    fn served(capacity: usize) -> (DuplexStream, Arc<AtomicUsize>) {
        let (here, there) = duplex(capacity);
        let writes = Arc::new(AtomicUsize::new(0));
        let corked = Corked::new(Counted(there, Arc::clone(&writes)));
        tokio::spawn(async move {
            let service = service_fn(answer);
            let stream = TokioIo::new(corked.clone());
            let connection = http1::Builder::new().serve_connection(stream, service);
            corked
                .drive(async { connection.await.map_err(io::Error::other) })
                .await
        });
        (here, writes)
    }

    async fn answer(request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
        if request.uri().path() == "/slow" {
            std::future::pending::<()>().await;
        }
        Ok(Response::new(Body::from("answered")))
    }

    /// One that never comes fails the test instead of holding it up.
    const PATIENCE: Duration = Duration::from_secs(30);

    async fn read_answers(stream: &mut (impl AsyncRead + Unpin), count: usize) {
        let mut read = String::new();
        while read.matches("answered").count() < count {
            let mut bytes = [0; 1024];
            let reading = timeout(PATIENCE, stream.read(&mut bytes));
            let length = reading.await.expect("an answer comes").unwrap();
            assert_ne!(length, 0, "the connection ended after {read}");
            read.push_str(std::str::from_utf8(&bytes[..length]).unwrap());
        }
    }

    fn get(path: &str) -> String {
        format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n")
    }

    #[tokio::test]
    async fn an_answer_does_not_wait_for_the_next_one() {
        let (mut stream, _) = served(1 << 16);
        let requests = get("/fast") + &get("/fast") + &get("/slow") + &get("/fast");
        stream.write_all(requests.as_bytes()).await.unwrap();
        read_answers(&mut stream, 2).await;
    }

    #[tokio::test]
    async fn answers_that_are_there_go_out_together() {
        let (mut stream, writes) = served(1 << 16);
        stream
            .write_all(get("/fast").repeat(8).as_bytes())
            .await
            .unwrap();
        read_answers(&mut stream, 8).await;
        assert_eq!(writes.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn a_peer_that_reads_slowly_gets_everything() {
        let (mut stream, _) = served(100);
        for _ in 0..500 {
            // More than the stream holds, so that reading and writing wait for each other.
            let requests = get("/fast").repeat(4);
            let (mut reading, mut writing) = tokio::io::split(&mut stream);
            let asking = writing.write_all(requests.as_bytes());
            let (asked, ()) = tokio::join!(asking, read_answers(&mut reading, 4));
            asked.unwrap();
        }
    }

    /// Counts the writes that reach the peer.
    struct Counted(DuplexStream, Arc<AtomicUsize>);

    impl AsyncRead for Counted {
        fn poll_read(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_read(cx, buffer)
        }
    }

    impl AsyncWrite for Counted {
        fn poll_write(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            self.1.fetch_add(1, Ordering::Relaxed);
            Pin::new(&mut self.0).poll_write(cx, bytes)
        }

        fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_flush(cx)
        }

        fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_shutdown(cx)
        }
    }
}
