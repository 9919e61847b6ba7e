//! A TCP server that sends back what it gets.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

pub struct Echo {
    pub address: SocketAddr,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    open: AtomicUsize,
    clients: Mutex<BTreeSet<IpAddr>>,
}

impl Echo {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Seen::default());
        let serving = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((stream, from)) = listener.accept().await {
                serving.clients.lock().unwrap().insert(from.ip());
                tokio::spawn(serve(stream, Arc::clone(&serving)));
            }
        });
        Self { address, seen }
    }

    /// Connections that are open now.
    #[allow(dead_code, reason = "not every test counts")]
    pub fn open(&self) -> usize {
        self.seen.open.load(Ordering::Relaxed)
    }

    /// Where its clients came from.
    #[allow(dead_code, reason = "not every test asks")]
    pub fn clients(&self) -> Vec<IpAddr> {
        self.seen.clients.lock().unwrap().iter().copied().collect()
    }
}

async fn serve(mut stream: TcpStream, seen: Arc<Seen>) {
    seen.open.fetch_add(1, Ordering::Relaxed);
    let (mut read, mut write) = stream.split();
    let _ = tokio::io::copy(&mut read, &mut write).await;
    let _ = write.shutdown().await;
    seen.open.fetch_sub(1, Ordering::Relaxed);
}
