//! An HTTP server of a test: axum on a thread and a port of its own.

use std::net::SocketAddr;

use tokio::runtime::Runtime;

/// Runs until it is dropped.
pub struct HttpServer {
    pub address: SocketAddr,
    _runtime: Runtime,
}

impl HttpServer {
    pub fn run(routes: axum::Router) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime
            .block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))
            .unwrap();
        let address = listener.local_addr().unwrap();
        runtime.spawn(async move { axum::serve(listener, routes).await });
        Self {
            address,
            _runtime: runtime,
        }
    }
}
