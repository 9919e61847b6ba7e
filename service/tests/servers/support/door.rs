//! A TCP proxy as drills put before every server: it accepts even while its upstream is dead.

use std::net::SocketAddr;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};

/// Forwards `listen` to `upstream` until the test's runtime ends.
pub async fn open(listen: SocketAddr, upstream: SocketAddr) {
    let listener = TcpListener::bind(listen).await.unwrap();
    tokio::spawn(async move {
        loop {
            let Ok((mut client, _)) = listener.accept().await else {
                continue;
            };
            tokio::spawn(async move {
                if let Ok(mut server) = TcpStream::connect(upstream).await {
                    let _ = client.set_nodelay(true);
                    let _ = server.set_nodelay(true);
                    let _ = copy_bidirectional(&mut client, &mut server).await;
                }
            });
        }
    });
}
