//! The measured server before a plain client: it answers, counts, and freezes without losing anything.

use flashbench::server::{Freezes, Server, Setup};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const REQUEST: &[u8] = b"POST /buy HTTP/1.1\r\nHost: bench\r\nContent-Length: 5\r\n\r\nsku=7";

/// Reads until this many answers have come.
async fn answers(stream: &mut TcpStream, count: usize) -> String {
    let mut text = Vec::new();
    while String::from_utf8_lossy(&text)
        .matches("sold_out\"}")
        .count()
        < count
    {
        let read = stream.read_buf(&mut text).await.expect("a connection");
        assert!(read > 0, "the server closed");
    }
    String::from_utf8(text).expect("answers in ASCII")
}

#[tokio::test]
async fn every_request_is_answered_and_counted_once() {
    let server = Server::start(Setup::default()).unwrap();
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(REQUEST).await.unwrap();
    let first = answers(&mut stream, 1).await;
    assert!(first.starts_with("HTTP/1.1 200 OK\r\n"), "{first}");
    assert!(
        first.ends_with("\r\n\r\n{\"reason\":\"sold_out\"}"),
        "{first}"
    );
    stream.write_all(&REQUEST.repeat(16)).await.unwrap();
    let pipelined = answers(&mut stream, 16).await;
    assert_eq!(pipelined.matches("HTTP/1.1 200 OK").count(), 16);
    drop(stream);
    let log = server.finish();
    assert_eq!(log.answered_ns.len(), 17);
    assert!(log.answered_ns.is_sorted());
    assert_eq!(log.freezes, []);
}

#[tokio::test]
async fn a_frozen_server_answers_nothing_and_loses_nothing() {
    let freezes = Freezes {
        first_ms: 20,
        every_ms: 60,
        length_ms: 30,
    };
    let server = Server::start(Setup {
        core: None,
        freezes: Some(freezes),
    })
    .unwrap();
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let mut sent = 0;
    let begun = std::time::Instant::now();
    // Long enough for several freezes, however slow the machine is: they come by the same clock.
    while begun.elapsed().as_millis() < 200 {
        stream.write_all(REQUEST).await.unwrap();
        answers(&mut stream, 1).await;
        sent += 1;
    }
    drop(stream);
    let log = server.finish();
    assert_eq!(log.answered_ns.len(), sent);
    assert!(log.freezes.len() >= 2, "{:?}", log.freezes);
    for freeze in &log.freezes {
        assert!(freeze.end_ns - freeze.start_ns >= 30_000_000, "{freeze:?}");
        let inside = |at: &&u64| (freeze.start_ns..freeze.end_ns).contains(*at);
        assert_eq!(log.answered_ns.iter().find(inside), None, "{freeze:?}");
    }
    assert!(
        log.freezes
            .windows(2)
            .all(|pair| pair[0].end_ns <= pair[1].start_ns)
    );
}

#[tokio::test]
async fn the_first_freeze_waits_for_the_first_answer() {
    let freezes = Freezes {
        first_ms: 0,
        every_ms: 1000,
        length_ms: 1,
    };
    let server = Server::start(Setup {
        core: None,
        freezes: Some(freezes),
    })
    .unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(30)).await;
    assert_eq!(server.finish().freezes, []);
}
