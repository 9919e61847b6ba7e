//! Break and mend, 200 times under load: nothing hangs, nothing is left.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use flashdrill::proxy::ProxyClient;
use flashdrill::proxy::toxic::{Effect, Stream};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::fixture::{Fixture, echoed, until};

const CYCLES: usize = 200;
const CLIENTS: usize = 16;

const EFFECTS: [Effect; 9] = [
    Effect::Latency {
        latency: 20,
        jitter: 5,
    },
    Effect::Bandwidth { rate: 10 },
    Effect::SlowClose { delay: 50 },
    Effect::Timeout { timeout: 0 },
    Effect::ResetPeer { timeout: 1 },
    Effect::Slicer {
        average_size: 100,
        size_variation: 50,
        delay: 10,
    },
    Effect::LimitData { bytes: 2_000 },
    Effect::Stall {},
    Effect::Unreachable {},
];

/// Echoes until told to stop, over a new connection when the old one is broken or slow.
async fn load(listen: std::net::SocketAddr, stop: Arc<AtomicBool>, echoes: Arc<AtomicU64>) {
    let patience = Duration::from_millis(100);
    while !stop.load(Ordering::Relaxed) {
        let Ok(Ok(mut stream)) = timeout(patience, TcpStream::connect(listen)).await else {
            continue;
        };
        while let Ok(true) = timeout(patience, echoed(&mut stream, &[7; 1_000])).await {
            echoes.fetch_add(1, Ordering::Relaxed);
            if stop.load(Ordering::Relaxed) {
                break;
            }
        }
    }
}

/// How many tasks live in the proxy, the one that answers included.
async fn tasks(client: &ProxyClient) -> u64 {
    let metrics = client.metrics().await.unwrap();
    let line = metrics
        .lines()
        .find_map(|line| line.strip_prefix("flashdrill_proxy_tasks "));
    line.unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_cycles_under_load_leave_nothing() {
    let f = Fixture::start().await;
    let tasks_before = tasks(&f.client).await;
    let (stop, echoes) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicU64::new(0)),
    );
    let mut clients = JoinSet::new();
    for _ in 0..CLIENTS {
        clients.spawn(load(f.listen, Arc::clone(&stop), Arc::clone(&echoes)));
    }
    for cycle in 0..CYCLES {
        match cycle % (EFFECTS.len() + 2) {
            0 => f.client.set_enabled("echo", false).await.unwrap(),
            1 => drop(f.client.rst("echo").await.unwrap()),
            kind => drop(f.add(Stream::BOTH[cycle % 2], EFFECTS[kind - 2]).await),
        }
        sleep(Duration::from_millis(5)).await;
        f.client.reset().await.unwrap();
        let healed = &f.client.proxy("echo").await.unwrap();
        assert!(
            healed.enabled && healed.toxics.is_empty(),
            "cycle {cycle}: {healed:?}"
        );
    }
    let during = echoes.load(Ordering::Relaxed);
    until("the load goes on after the last heal", async || {
        echoes.load(Ordering::Relaxed) > during + 100
    })
    .await;
    stop.store(true, Ordering::Relaxed);
    clients.join_all().await;
    until("connections are gone", async || {
        f.client.traffic("echo").await.unwrap().connections_open == 0
            && f.client.connections("echo").await.unwrap().is_empty()
    })
    .await;
    until("the server sees them gone", async || f.echo.open() == 0).await;
    // Our own client may keep a second connection to the API.
    until("tasks are gone", async || {
        tasks(&f.client).await < tasks_before + 4
    })
    .await;
    assert!(during > 0, "there was load between the faults");
}
