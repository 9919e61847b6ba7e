//! The fault proxy from outside: Toxiproxy's REST API, and toxics on real connections.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests may panic, as tests do"
)]

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use flashdrill::proxy::client::LinkRequest;
use flashdrill::proxy::toxic::{Effect, Stream, Toxic};
use flashdrill::proxy::{ProxyClient, ProxyServer};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// Long enough that nothing which should arrive is missed on a busy machine.
const SOON: Duration = Duration::from_secs(5);
/// Long enough to see that nothing arrives.
const QUIET: Duration = Duration::from_millis(300);

/// Sends back what it gets; names the client's address to the first byte's asker.
async fn echo_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, from)) = listener.accept().await {
            tokio::spawn(async move {
                assert_eq!(
                    from.ip().to_string(),
                    "127.0.0.3",
                    "proxies dial from 127.0.0.3"
                );
                let (mut read, mut write) = stream.split();
                let _ = tokio::io::copy(&mut read, &mut write).await;
            });
        }
    });
    address
}

struct Fixture {
    _server: ProxyServer,
    client: ProxyClient,
    api: String,
    listen: SocketAddr,
}

/// A proxy with one link, `echo`.
async fn fixture() -> Fixture {
    let server = ProxyServer::start(0, 1).unwrap();
    let client = server.client();
    let upstream = echo_server().await.to_string();
    let listen = "127.0.0.1:0".to_owned();
    client
        .put(&LinkRequest {
            name: "echo".into(),
            listen,
            upstream,
            enabled: true,
        })
        .await
        .unwrap();
    let listen = client.proxies().await.unwrap()["echo"]
        .listen
        .parse()
        .unwrap();
    let api = format!("http://{}", server.address());
    Fixture {
        _server: server,
        client,
        api,
        listen,
    }
}

async fn echoed(stream: &mut TcpStream, text: &[u8]) -> bool {
    stream.write_all(text).await.unwrap();
    let mut answer = vec![0; text.len()];
    matches!(timeout(SOON, stream.read_exact(&mut answer)).await, Ok(Ok(_)) if answer == text)
}

async fn is_closed(stream: &mut TcpStream) -> bool {
    matches!(
        timeout(SOON, stream.read(&mut [0; 1])).await,
        Ok(Ok(0) | Err(_))
    )
}

#[tokio::test]
async fn bytes_pass_unchanged_and_are_counted_live() {
    let f = fixture().await;
    let mut stream = TcpStream::connect(f.listen).await.unwrap();
    let megabyte: Vec<u8> = (0..1_u32 << 20).map(|i| (i % 251) as u8).collect();
    let (mut read, mut write) = stream.split();
    let mut answer = vec![0; megabyte.len()];
    let (sent, received) = tokio::join!(write.write_all(&megabyte), read.read_exact(&mut answer));
    sent.unwrap();
    received.unwrap();
    assert!(answer == megabyte, "the echo differs");
    let traffic = f.client.traffic("echo").await.unwrap();
    assert_eq!(traffic.upstream.forwarded_bytes, 1 << 20);
    assert_eq!(traffic.downstream.forwarded_bytes, 1 << 20);
    assert_eq!(
        (traffic.held_back_bytes(), traffic.connections_open),
        (0, 1)
    );
}

#[tokio::test]
async fn latency_delays_live_connections_and_keeps_order() {
    let f = fixture().await;
    let mut stream = TcpStream::connect(f.listen).await.unwrap();
    assert!(echoed(&mut stream, b"before").await);
    for stream in Stream::BOTH {
        let toxic = Toxic::new(
            stream,
            Effect::Latency {
                latency: 100,
                jitter: 20,
            },
        );
        f.client.add_toxic("echo", &toxic).await.unwrap();
    }
    let begun = Instant::now();
    assert!(echoed(&mut stream, b"delayed, in order").await);
    assert!(
        begun.elapsed() >= Duration::from_millis(160),
        "{:?}",
        begun.elapsed()
    );
    f.client.reset().await.unwrap();
    assert!(echoed(&mut stream, b"the connection lives on").await);
    assert_eq!(f.client.toxics("echo").await.unwrap(), []);
}

#[tokio::test]
async fn a_black_hole_swallows_one_direction_and_closes_when_removed() {
    let f = fixture().await;
    let mut stream = TcpStream::connect(f.listen).await.unwrap();
    assert!(echoed(&mut stream, b"before").await);
    f.client.black_hole("echo", Stream::Upstream).await.unwrap();
    stream.write_all(b"lost").await.unwrap();
    assert!(
        timeout(QUIET, stream.read(&mut [0; 1])).await.is_err(),
        "nothing comes back"
    );
    let traffic = f.client.traffic("echo").await.unwrap();
    assert_eq!(
        (
            traffic.upstream.held_back_bytes,
            traffic.downstream.held_back_bytes
        ),
        (4, 0)
    );
    f.client.clear("echo").await.unwrap();
    assert!(
        is_closed(&mut stream).await,
        "a stream with a hole in it cannot go on"
    );
    let mut fresh = TcpStream::connect(f.listen).await.unwrap();
    assert!(echoed(&mut fresh, b"after").await);
}

#[tokio::test]
async fn a_timeout_closes_old_and_new_connections() {
    let f = fixture().await;
    let mut old = TcpStream::connect(f.listen).await.unwrap();
    assert!(echoed(&mut old, b"before").await);
    let toxic = Toxic::new(Stream::Downstream, Effect::Timeout { timeout: 50 });
    f.client.add_toxic("echo", &toxic).await.unwrap();
    assert!(is_closed(&mut old).await);
    let mut new = TcpStream::connect(f.listen).await.unwrap();
    assert!(is_closed(&mut new).await);
}

#[tokio::test]
async fn a_disabled_link_refuses_and_comes_back_at_its_port() {
    let f = fixture().await;
    let mut stream = TcpStream::connect(f.listen).await.unwrap();
    assert!(echoed(&mut stream, b"before").await);
    f.client.set_enabled("echo", false).await.unwrap();
    assert!(is_closed(&mut stream).await);
    let refused = TcpStream::connect(f.listen).await.unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    f.client.reset().await.unwrap();
    let mut fresh = TcpStream::connect(f.listen).await.unwrap();
    assert!(echoed(&mut fresh, b"after").await);
}

/// Toxiproxy dials inside its accept loop, so that one dead upstream holds up everybody.
#[tokio::test]
async fn a_dead_upstream_is_accepted_then_closed() {
    let f = fixture().await;
    let vacant = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let mut request = LinkRequest {
        name: "dead".into(),
        listen: "127.0.0.1:0".into(),
        upstream: vacant.to_string(),
        enabled: true,
    };
    f.client.put(&request).await.unwrap();
    request.listen = f.client.proxies().await.unwrap()["dead"].listen.clone();
    let mut stream = TcpStream::connect(&request.listen).await.unwrap();
    assert!(is_closed(&mut stream).await);

    // The same listener with a live upstream: a restart of the link, at its port.
    request.upstream = f.client.proxies().await.unwrap()["echo"].upstream.clone();
    f.client.put(&request).await.unwrap();
    let mut stream = TcpStream::connect(&request.listen).await.unwrap();
    assert!(echoed(&mut stream, b"alive").await);
}

#[tokio::test]
async fn the_api_answers_as_toxiproxys_does() {
    let f = fixture().await;
    let http = reqwest::Client::new();
    let link = json!({"name": "two", "listen": "127.0.0.1:0", "upstream": "127.0.0.1:1"});
    let latency = json!({"type": "latency", "attributes": {"latency": 5}});
    let outside = json!({"name": "out", "listen": "0.0.0.0:0", "upstream": "127.0.0.1:1"});
    // Method, path, status, place in the answer, what is there.
    let cases = [
        (
            r#"GET /version 200 /version "2.12.0+flashdrill-0.1.0""#,
            None,
        ),
        ("POST /proxies 201 /enabled true", Some(&link)),
        ("POST /proxies 409 /status 409", Some(&link)),
        ("POST /proxies 400 /status 400", Some(&outside)),
        ("GET /proxies/none 404 /status 404", None),
        (
            r#"POST /proxies/two/toxics 200 /name "latency_downstream""#,
            Some(&latency),
        ),
        ("POST /proxies/two/toxics 409 /status 409", Some(&latency)),
        ("GET /proxies/two 200 /toxics/0/attributes/latency 5", None),
        ("GET /proxies/two/toxics/none 404 /status 404", None),
        (
            "DELETE /proxies/two/toxics/latency_downstream 204  null",
            None,
        ),
        ("GET /proxies/two/toxics 200  []", None),
        ("DELETE /proxies/two 204  null", None),
        ("GET /proxies/two 404 /status 404", None),
    ];
    for (case, body) in cases {
        let [method, path, status, pointer, expected] =
            case.split(' ').collect::<Vec<_>>().try_into().unwrap();
        let mut request = http.request(method.parse().unwrap(), format!("{}{path}", f.api));
        if let Some(body) = body {
            request = request.json(body);
        }
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status().as_str(), status, "{case}");
        let body = answer.bytes().await.unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
        let expected: Value = serde_json::from_str(expected).unwrap();
        assert_eq!(body.pointer(pointer), Some(&expected), "{case}: {body}");
    }
}

#[tokio::test]
async fn a_toxics_update_keeps_what_it_does_not_name() {
    let f = fixture().await;
    let toxic = Toxic::new(
        Stream::Upstream,
        Effect::Latency {
            latency: 5,
            jitter: 2,
        },
    );
    f.client.add_toxic("echo", &toxic).await.unwrap();
    let path = format!("{}/proxies/echo/toxics/{}", f.api, toxic.name);
    let update = json!({"attributes": {"latency": 9}, "toxicity": 0.5});
    let answer = reqwest::Client::new()
        .post(path)
        .json(&update)
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status().as_u16(), 200);
    let effect = Effect::Latency {
        latency: 9,
        jitter: 2,
    };
    let expected = [Toxic {
        toxicity: 0.5,
        effect,
        ..toxic
    }];
    assert_eq!(f.client.toxics("echo").await.unwrap(), expected);
}
