//! Toxiproxy's toxics on live connections.

use std::time::{Duration, Instant};

use flashdrill::proxy::toxic::{Effect, Stream, Toxic, ToxicUpdate};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::fixture::{End, Fixture, echoed, end, is_quiet, until};

#[tokio::test]
async fn latency_delays_live_connections_and_keeps_order() {
    let f = Fixture::start().await;
    let mut stream = f.connected().await;
    for stream in Stream::BOTH {
        let (latency, jitter) = (100, 20);
        f.add(stream, Effect::Latency { latency, jitter }).await;
    }
    let begun = Instant::now();
    assert!(echoed(&mut stream, b"delayed, in order").await);
    assert!(
        begun.elapsed() >= Duration::from_millis(160),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(f.client.traffic("echo").await.unwrap().delayed_bytes(), 34);
    f.client.reset().await.unwrap();
    assert!(echoed(&mut stream, b"the connection lives on").await);
    assert_eq!(f.client.toxics("echo").await.unwrap(), []);
}

#[tokio::test]
async fn bytes_that_wait_go_on_when_their_toxic_goes() {
    for effect in [
        Effect::Latency {
            latency: 3_600_000,
            jitter: 0,
        },
        Effect::Bandwidth { rate: 0 },
        Effect::Slicer {
            average_size: 2,
            size_variation: 0,
            delay: u64::from(u32::MAX),
        },
        Effect::Stall {},
    ] {
        let f = Fixture::start().await;
        let mut stream = f.connected().await;
        let toxic = f.add(Stream::Downstream, effect).await;
        stream.write_all(b"waiting").await.unwrap();
        until("the answer waits", async || {
            let down = f.client.traffic("echo").await.unwrap().downstream;
            down.delayed_bytes + down.held_back_bytes > 0
        })
        .await;
        f.client.remove_toxic("echo", &toxic).await.unwrap();
        let mut answer = [0; 7];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"waiting", "{effect:?}");
    }
}

#[tokio::test]
async fn an_update_takes_what_waits_with_it() {
    let f = Fixture::start().await;
    let mut stream = f.connected().await;
    let latency = Effect::Latency {
        latency: 3_600_000,
        jitter: 7,
    };
    let toxic = f.add(Stream::Upstream, latency).await;
    stream.write_all(b"waiting").await.unwrap();
    assert!(is_quiet(&mut stream).await);
    let attributes = json!({"latency": 20}).as_object().cloned().unwrap();
    let update = ToxicUpdate {
        toxicity: None,
        attributes,
    };
    f.client
        .update_toxic("echo", &toxic, &update)
        .await
        .unwrap();
    let effect = f.client.toxic("echo", &toxic).await.unwrap().effect;
    assert_eq!(
        effect,
        Effect::Latency {
            latency: 20,
            jitter: 7
        }
    );
    let mut answer = [0; 7];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"waiting");
}

#[tokio::test]
async fn bandwidth_slows_down() {
    let f = Fixture::start().await;
    let mut stream = f.connected().await;
    f.add(Stream::Upstream, Effect::Bandwidth { rate: 100 })
        .await;
    let begun = Instant::now();
    assert!(echoed(&mut stream, &[7; 50_000]).await);
    assert!(
        begun.elapsed() >= Duration::from_millis(450),
        "{:?}",
        begun.elapsed()
    );
}

#[tokio::test]
async fn a_black_hole_swallows_one_direction_and_closes_when_removed() {
    let f = Fixture::start().await;
    let mut stream = f.connected().await;
    f.client.black_hole("echo", Stream::Upstream).await.unwrap();
    stream.write_all(b"lost").await.unwrap();
    assert!(is_quiet(&mut stream).await);
    let traffic = f.client.traffic("echo").await.unwrap();
    let held_back = [traffic.upstream, traffic.downstream].map(|d| d.held_back_bytes);
    assert_eq!(held_back, [4, 0]);
    f.client.clear("echo").await.unwrap();
    assert_eq!(
        end(&mut stream).await,
        End::Closed,
        "a stream with a hole in it cannot go on"
    );
    f.connected().await;
}

#[tokio::test]
async fn a_timeout_closes_idle_connections_old_and_new() {
    let f = Fixture::start().await;
    let mut old = f.connected().await;
    f.add(Stream::Downstream, Effect::Timeout { timeout: 50 })
        .await;
    assert_eq!(end(&mut old).await, End::Closed);
    let mut new = f.connect().await;
    assert_eq!(end(&mut new).await, End::Closed);
}

/// Its clients read nothing, so that the proxy cannot write to them.
#[tokio::test]
async fn a_timeout_closes_blocked_connections() {
    let f = Fixture::start().await;
    let mut stream = f.connected().await;
    let megabyte = vec![7; 1 << 20];
    while let Ok(sent) =
        tokio::time::timeout(Duration::from_secs(1), stream.write_all(&megabyte)).await
    {
        sent.unwrap();
    }
    f.add(Stream::Downstream, Effect::Timeout { timeout: 50 })
        .await;
    until("the blocked connection is closed", async || {
        f.client.connections("echo").await.unwrap().is_empty()
    })
    .await;
}

#[tokio::test]
async fn slow_close_delays_the_end_only() {
    let f = Fixture::start().await;
    let mut stream = f.connected().await;
    f.add(Stream::Downstream, Effect::SlowClose { delay: 200 })
        .await;
    let begun = Instant::now();
    assert!(echoed(&mut stream, b"not delayed").await);
    stream.shutdown().await.unwrap();
    assert_eq!(end(&mut stream).await, End::Closed);
    assert!(
        begun.elapsed() >= Duration::from_millis(200),
        "{:?}",
        begun.elapsed()
    );
}

#[tokio::test]
async fn limit_data_lets_so_many_bytes_pass() {
    let f = Fixture::start().await;
    let mut stream = f.connect().await;
    f.add(Stream::Downstream, Effect::LimitData { bytes: 100 })
        .await;
    stream.write_all(&[7; 150]).await.unwrap();
    let mut answer = Vec::new();
    // The close may come as a reset: the proxy had bytes of the client left to read.
    let _ = stream.read_to_end(&mut answer).await;
    assert_eq!(answer, [7; 100]);
}

#[tokio::test]
async fn a_slicer_sends_many_small_chunks() {
    let f = Fixture::start().await;
    let mut stream = f.connected().await;
    let slicer = Effect::Slicer {
        average_size: 100,
        size_variation: 10,
        delay: 20_000,
    };
    f.add(Stream::Downstream, slicer).await;
    let text: Vec<u8> = (0..1_000_u32).map(|i| i as u8).collect();
    stream.write_all(&text).await.unwrap();
    let (mut answer, mut reads) = (Vec::new(), 0);
    while answer.len() < text.len() {
        stream.read_buf(&mut answer).await.unwrap();
        reads += 1;
    }
    assert!(answer == text && reads > 2, "{reads} reads");
}

/// Toxiproxy resets only connections that came after the toxic; it closes the others.
#[tokio::test]
async fn reset_peer_resets_old_and_new_connections_at_their_next_bytes() {
    let f = Fixture::start().await;
    let mut old = f.connected().await;
    f.add(Stream::Upstream, Effect::ResetPeer { timeout: 0 })
        .await;
    assert!(is_quiet(&mut old).await, "an idle connection is left alone");
    let mut new = f.connect().await;
    for stream in [&mut old, &mut new] {
        stream.write_all(b"last words").await.unwrap();
        assert_eq!(end(stream).await, End::Reset);
    }
    assert_eq!(f.client.traffic("echo").await.unwrap().connections_reset, 2);
}

#[tokio::test]
async fn toxics_of_a_direction_add_up() {
    let f = Fixture::start().await;
    let mut stream = f.connected().await;
    f.add(
        Stream::Upstream,
        Effect::Latency {
            latency: 60,
            jitter: 0,
        },
    )
    .await;
    let mut second = Toxic::new(
        Stream::Upstream,
        Effect::Latency {
            latency: 60,
            jitter: 0,
        },
    );
    second.name = "second".into();
    f.client.add_toxic("echo", &second).await.unwrap();
    f.add(Stream::Upstream, Effect::LimitData { bytes: 12 })
        .await;
    let begun = Instant::now();
    assert!(echoed(&mut stream, b"twice").await);
    assert!(
        begun.elapsed() >= Duration::from_millis(120),
        "{:?}",
        begun.elapsed()
    );
    stream
        .write_all(b"the limit comes in between")
        .await
        .unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    assert!(b"the limit comes".starts_with(&answer[..]), "{answer:?}");
}
