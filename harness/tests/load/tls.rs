//! Load over TLS: trusted certificates only, pipelined as in the clear.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use flashdrill::load::endpoint::{Endpoint, Trust};
use reqwest::Url;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::run::{Folder, Ran, spec, try_run};
use crate::script::accepted;

/// A server with a certificate of its own making.
struct TlsServer {
    address: SocketAddr,
    certificate_pem: String,
}

impl TlsServer {
    fn run() -> Self {
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let config =
            ServerConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_no_client_auth()
                .with_single_cert(vec![made.cert.der().clone()], key)
                .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let config = Arc::new(config);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let config = Arc::clone(&config);
                thread::spawn(move || serve(stream.unwrap(), config));
            }
        });
        Self {
            address,
            certificate_pem: made.cert.pem(),
        }
    }
}

/// Answers each request; every answer in two records, so that one read does not hold it whole.
fn serve(stream: TcpStream, config: Arc<ServerConfig>) {
    let mut stream = StreamOwned::new(ServerConnection::new(config).unwrap(), stream);
    let (mut received, mut space) = (Vec::new(), [0; 4096]);
    loop {
        match stream.read(&mut space) {
            Ok(0) | Err(_) => return,
            Ok(count) => received.extend_from_slice(&space[..count]),
        }
        while let Some(end) = request_end(&received) {
            received.drain(..end);
            let answer = accepted();
            let (one, two) = answer.split_at(answer.len() / 2);
            if stream
                .write_all(one)
                .and_then(|()| stream.write_all(two))
                .is_err()
            {
                return;
            }
        }
    }
}

/// End of the first whole request, its body included.
fn request_end(received: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(received).ok()?;
    let head = text.find("\r\n\r\n")? + 4;
    let length = text[..head]
        .lines()
        .find_map(|line| line.strip_prefix("Content-Length: "))?;
    let end = head + length.parse::<usize>().ok()?;
    (end <= received.len()).then_some(end)
}

fn over_tls(server: &TlsServer, authority: Option<PathBuf>) -> Ran {
    let url = Url::parse(&format!("https://{}/", server.address)).unwrap();
    let trust = Trust {
        hosts: vec![],
        authority,
    };
    let endpoint = Endpoint::of_url(&url, &trust).unwrap();
    let mut spec = spec(2_000.0, 300);
    spec.load.connections = 4;
    spec.load.depth = 8;
    spec.load.timeout_ms = 500;
    try_run(&spec, endpoint, &Arc::default()).unwrap()
}

#[test]
fn a_trusted_server_is_loaded_over_tls() {
    let server = TlsServer::run();
    let folder = Folder::new(&format!("fd-tls-{}", std::process::id()));
    let authority = folder.0.join("ca.pem");
    std::fs::write(&authority, &server.certificate_pem).unwrap();
    let ran = over_tls(&server, Some(authority));
    assert_eq!(ran.count("accepted"), 600, "{:?}", ran.summary.outcomes);
}

#[test]
fn an_untrusted_server_gets_nothing() {
    let server = TlsServer::run();
    let ran = over_tls(&server, None);
    assert_eq!((ran.summary.sent, ran.summary.dropped), (0, 600));
}
