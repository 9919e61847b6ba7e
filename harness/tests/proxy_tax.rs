//! What the fault proxy costs: redis-benchmark through it and past it, side by side.
//!
//! `cargo test --release -p flashdrill --test proxy_tax -- --ignored --nocapture`

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests may panic, as tests do"
)]

use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use flashdrill::environment::free_port;
use flashdrill::proxy::ProxyServer;
use flashdrill::proxy::client::LinkRequest;

struct Redis(Child);

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start_redis(port: u16) -> Redis {
    let child = Command::new("redis-server")
        // Protected mode takes 127.0.0.3, where the proxy dials from, for another machine.
        .args([
            "--bind",
            "127.0.0.1",
            "--protected-mode",
            "no",
            "--save",
            "",
        ])
        .args(["--port", &port.to_string()])
        .stdout(Stdio::null())
        .spawn()
        .expect("redis-server runs");
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        std::thread::sleep(Duration::from_millis(20));
    }
    Redis(child)
}

fn benchmark(name: &str, port: u16, requests: &str, options: &[&str]) {
    let output = Command::new("redis-benchmark")
        .args([
            "-p",
            &port.to_string(),
            "-n",
            requests,
            "-t",
            "set",
            "--csv",
        ])
        .args(options)
        .output()
        .expect("redis-benchmark runs");
    let text = String::from_utf8_lossy(&output.stdout);
    println!("{name:<40}{}", text.lines().last().unwrap_or_default());
}

#[tokio::test]
#[ignore = "a measurement: prints figures, judges nothing"]
async fn through_the_proxy_and_past_it() {
    let direct = free_port().unwrap();
    let proxied = free_port().unwrap();
    let _redis = start_redis(direct);
    let server = ProxyServer::start(0, 0).unwrap();
    let link = LinkRequest {
        name: "redis".into(),
        listen: format!("127.0.0.1:{proxied}"),
        upstream: format!("127.0.0.1:{direct}"),
        enabled: true,
    };
    server.client().put(&link).await.unwrap();
    println!(
        "{:<40}test,rps,avg_ms,min_ms,p50_ms,p95_ms,p99_ms,max_ms",
        ""
    );
    for (case, requests, options) in [
        ("1 connection, depth 1", "20000", vec!["-c", "1"]),
        ("50 connections, depth 1", "200000", vec!["-c", "50"]),
        (
            "50 connections, depth 16",
            "2000000",
            vec!["-c", "50", "-P", "16"],
        ),
        (
            "4 connections, depth 64",
            "2000000",
            vec!["-c", "4", "-P", "64"],
        ),
        (
            "4 connections, depth 16, 4 KiB",
            "300000",
            vec!["-c", "4", "-P", "16", "-d", "4096"],
        ),
    ] {
        for (way, port) in [("direct", direct), ("proxied", proxied)] {
            benchmark(&format!("{case}, {way}"), port, requests, &options);
        }
    }
}
