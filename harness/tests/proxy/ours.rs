//! What Toxiproxy cannot do: stalls, connects that hang, resets on order, toxics for one client.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use flashdrill::proxy::ProxyKind;
use flashdrill::proxy::toxic::{Effect, Stream, Toxic};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

use super::fixture::{End, Fixture, QUIET, SOON, echoed, end, is_quiet, until};

const NODE: &str = "127.0.1.10";

async fn connect_from(client: &str, to: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    let from: IpAddr = client.parse().unwrap();
    socket.bind(SocketAddr::new(from, 0)).unwrap();
    socket.connect(to).await.unwrap()
}

#[tokio::test]
async fn the_client_knows_which_proxy_answers() {
    let f = Fixture::start().await;
    assert_eq!(f.client.kind().await.unwrap(), ProxyKind::BuiltIn);
}

#[tokio::test]
async fn a_stall_holds_megabytes_and_ends_back_and_loses_nothing() {
    let f = Fixture::start().await;
    let mut stream = f.connected().await;
    for stream in Stream::BOTH {
        f.add(stream, Effect::Stall {}).await;
    }
    let sent: Vec<u8> = (0..8_u32 << 20).map(|i| (i % 251) as u8).collect();
    let (mut read, mut write) = stream.split();
    let mut received = Vec::new();
    let send = async {
        write.write_all(&sent).await.unwrap();
        write.shutdown().await.unwrap();
    };
    let heal = async {
        until("the stall holds bytes", async || {
            f.client.traffic("echo").await.unwrap().held_back_bytes() > 0
        })
        .await;
        tokio::time::sleep(QUIET).await;
        assert_eq!(
            f.client
                .traffic("echo")
                .await
                .unwrap()
                .downstream
                .forwarded_bytes,
            6
        );
        f.client.clear("echo").await.unwrap();
    };
    let (_, read, ()) = tokio::join!(send, read.read_to_end(&mut received), heal);
    read.unwrap();
    assert!(
        received == sent,
        "{} of {} bytes came back",
        received.len(),
        sent.len()
    );
}

#[tokio::test]
async fn a_stalled_reset_comes_after_the_heal() {
    let f = Fixture::start().await;
    let stream = f.connected().await;
    f.add(Stream::Upstream, Effect::Stall {}).await;
    stream.set_zero_linger().unwrap();
    drop(stream);
    tokio::time::sleep(QUIET).await;
    assert_eq!(f.client.connections("echo").await.unwrap().len(), 1);
    f.client.clear("echo").await.unwrap();
    until("the server is told", async || {
        f.client.traffic("echo").await.unwrap().connections_reset == 1
    })
    .await;
}

#[tokio::test]
async fn an_unreachable_link_lets_connects_hang_and_go_on_later() {
    let f = Fixture::start().await;
    let mut open = f.connected().await;
    let toxic = f.add(Stream::Upstream, Effect::Unreachable {}).await;
    let mut connect = Box::pin(TcpStream::connect(f.listen));
    assert!(
        timeout(QUIET, &mut connect).await.is_err(),
        "neither accepted nor refused"
    );
    assert!(echoed(&mut open, b"open connections go on").await);
    f.client.set_enabled("echo", false).await.unwrap();
    f.client.set_enabled("echo", true).await.unwrap();
    let again = timeout(QUIET, TcpStream::connect(f.listen)).await;
    assert!(
        again.is_err(),
        "an enabled link is as unreachable as before"
    );
    f.client.remove_toxic("echo", &toxic).await.unwrap();
    // The kernel repeats its SYN after 1, 3 and 7 seconds; a refusal in between ends the first one.
    let late = timeout(SOON, connect).await.unwrap();
    if let Ok(mut late) = late {
        assert!(echoed(&mut late, b"late").await);
    }
    f.connected().await;
}

#[tokio::test]
async fn toxics_can_be_for_one_client() {
    let f = Fixture::start().await;
    let mut node = connect_from(NODE, f.listen).await;
    let mut other = f.connected().await;
    assert!(echoed(&mut node, b"before").await);
    let from = NODE.parse().unwrap();
    let stall = Toxic::new(Stream::Downstream, Effect::Stall {}).only_from(from);
    f.client.add_toxic("echo", &stall).await.unwrap();
    assert_eq!(f.client.toxics("echo").await.unwrap(), [stall]);
    node.write_all(b"held").await.unwrap();
    assert!(is_quiet(&mut node).await);
    assert!(echoed(&mut other, b"free").await);
    f.client.clear("echo").await.unwrap();

    let away = Toxic::new(Stream::Upstream, Effect::Unreachable {}).only_from(from);
    f.client.add_toxic("echo", &away).await.unwrap();
    assert!(timeout(QUIET, connect_from(NODE, f.listen)).await.is_err());
    f.connected().await;
    f.client.clear("echo").await.unwrap();
    timeout(SOON, connect_from(NODE, f.listen)).await.unwrap();
}

#[tokio::test]
async fn an_order_resets_idle_connections_on_both_sides() {
    let f = Fixture::start().await;
    let mut streams = [f.connected().await, f.connected().await];
    assert_eq!(f.client.rst("echo").await.unwrap(), 2);
    for stream in &mut streams {
        assert_eq!(end(stream).await, End::Reset);
    }
    until("all is counted and gone", async || {
        let traffic = f.client.traffic("echo").await.unwrap();
        (traffic.connections_reset, traffic.connections_open) == (2, 0)
    })
    .await;
    f.connected().await;
}

/// Toxiproxy can dead-lock here: a toxic is removed while its link is full and the peer is gone.
#[tokio::test]
async fn the_api_answers_while_links_are_full_and_peers_gone() {
    let f = Fixture::start().await;
    let effects = [
        Effect::Stall {},
        Effect::Bandwidth { rate: 0 },
        Effect::Latency {
            latency: 3_600_000,
            jitter: 0,
        },
        Effect::Timeout { timeout: 0 },
    ];
    for effect in effects {
        let mut stream = f.connected().await;
        for direction in Stream::BOTH {
            f.add(direction, effect).await;
        }
        let full = vec![7; 32 << 20];
        let _ = timeout(QUIET, stream.write_all(&full)).await;
        drop(stream);
        timeout(Duration::from_secs(4), f.client.reset())
            .await
            .unwrap()
            .unwrap();
        assert_eq!(f.client.toxics("echo").await.unwrap(), []);
        until("nothing is left", async || {
            f.client.connections("echo").await.unwrap().is_empty()
        })
        .await;
    }
}
