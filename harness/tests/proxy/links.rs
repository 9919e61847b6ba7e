//! What a link does without a toxic, and when it is disabled or leads nowhere.

use std::io::ErrorKind;

use flashdrill::proxy::client::LinkUpdate;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::fixture::{End, Fixture, arrives, echoed, end, put, until};

#[tokio::test]
async fn bytes_pass_unchanged_and_are_counted_live() {
    let f = Fixture::start().await;
    let mut stream = f.connect().await;
    let megabyte: Vec<u8> = (0..1_u32 << 20).map(|i| (i % 251) as u8).collect();
    let (mut read, mut write) = stream.split();
    let mut answer = vec![0; megabyte.len()];
    let (sent, received) = tokio::join!(write.write_all(&megabyte), read.read_exact(&mut answer));
    sent.unwrap();
    received.unwrap();
    assert!(answer == megabyte, "the echo differs");
    let traffic = f.client.traffic("echo").await.unwrap();
    for direction in [traffic.upstream, traffic.downstream] {
        assert_eq!(
            (direction.received_bytes, direction.forwarded_bytes),
            (1 << 20, 1 << 20)
        );
        assert_eq!((direction.held_back_bytes, direction.delayed_bytes), (0, 0));
    }
    let [connection] = f
        .client
        .connections("echo")
        .await
        .unwrap()
        .try_into()
        .unwrap();
    assert_eq!(connection.client, stream.local_addr().unwrap());
    assert_eq!(
        (connection.upstream, connection.downstream),
        (traffic.upstream, traffic.downstream)
    );
    drop(stream);
    until("the connection is gone", async || {
        let traffic = f.client.traffic("echo").await.unwrap();
        (traffic.connections_open, traffic.connections_total) == (0, 1)
    })
    .await;
    assert_eq!(f.client.connections("echo").await.unwrap(), []);
}

/// So that a server can tell who has bypassed the proxy.
#[tokio::test]
async fn links_dial_from_an_address_of_their_own() {
    let f = Fixture::start().await;
    f.connected().await;
    assert_eq!(f.echo.clients(), [std::net::IpAddr::from([127, 0, 0, 3])]);
}

/// Toxiproxy closes both ways when one side has said all, and loses the answer.
#[tokio::test]
async fn a_half_close_is_passed_on_and_the_answer_still_comes() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let f = Fixture::start().await;
    let listen = put(&f.client, "counter", listener.local_addr().unwrap()).await;
    let mut client = TcpStream::connect(listen).await.unwrap();
    client.write_all(b"all there is").await.unwrap();
    client.shutdown().await.unwrap();
    let (mut server, _) = listener.accept().await.unwrap();
    let mut request = Vec::new();
    server.read_to_end(&mut request).await.unwrap();
    assert_eq!(request, b"all there is");
    server.write_all(b"late answer").await.unwrap();
    drop(server);
    assert!(arrives(&mut client, b"late answer").await);
    assert_eq!(end(&mut client).await, End::Closed);
}

/// A client and a server that have talked to each other through a link.
async fn talking(listen: std::net::SocketAddr, listener: &TcpListener) -> (TcpStream, TcpStream) {
    let mut client = TcpStream::connect(listen).await.unwrap();
    let (mut server, _) = listener.accept().await.unwrap();
    client.write_all(b"hello").await.unwrap();
    assert!(arrives(&mut server, b"hello").await);
    (client, server)
}

#[tokio::test]
async fn a_reset_of_one_side_is_passed_on_as_a_reset() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let f = Fixture::start().await;
    let listen = put(&f.client, "server", listener.local_addr().unwrap()).await;
    let (mut client, server) = talking(listen, &listener).await;
    server.set_zero_linger().unwrap();
    drop(server);
    assert_eq!(end(&mut client).await, End::Reset);

    let (client, mut server) = talking(listen, &listener).await;
    client.set_zero_linger().unwrap();
    drop(client);
    assert_eq!(end(&mut server).await, End::Reset);
}

#[tokio::test]
async fn a_disabled_link_refuses_and_comes_back_at_its_port() {
    let f = Fixture::start().await;
    let mut stream = f.connected().await;
    f.client.set_enabled("echo", false).await.unwrap();
    assert_eq!(end(&mut stream).await, End::Closed);
    let refused = TcpStream::connect(f.listen).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    assert_eq!(f.client.traffic("echo").await.unwrap().connections_cut, 1);
    f.client.reset().await.unwrap();
    f.connected().await;
}

#[tokio::test]
async fn a_dead_upstream_is_accepted_then_closed_and_can_be_moved() {
    let f = Fixture::start().await;
    let vacant = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let listen = put(&f.client, "dead", vacant).await;
    let mut stream = TcpStream::connect(listen).await.unwrap();
    assert_eq!(end(&mut stream).await, End::Closed);
    assert_eq!(
        f.client.traffic("dead").await.unwrap().connections_refused,
        1
    );

    let update = LinkUpdate {
        upstream: Some(f.echo.address.to_string()),
        ..LinkUpdate::default()
    };
    f.client.update("dead", &update).await.unwrap();
    let mut stream = TcpStream::connect(listen).await.unwrap();
    assert!(echoed(&mut stream, b"alive").await);
}
