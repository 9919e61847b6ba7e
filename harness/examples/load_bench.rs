//! The load generator against a static server, beside wrk on the same server where wrk is installed.
//!
//! Figures move from machine to machine and run to run: read the ratio, taken side by side.
//! `cargo run --release -p flashdrill --example load_bench [seconds per case]`

#![allow(clippy::unwrap_used, reason = "a bench stops at the first surprise")]

#[path = "../tests/load/run.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod run;

use std::convert::Infallible;
use std::fs;
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

/// One way to load the server.
struct Case {
    rate_per_s: f64,
    connections: u32,
    depth: u32,
}

const CASES: [Case; 4] = [
    Case {
        rate_per_s: 20_000.0,
        connections: 64,
        depth: 1,
    },
    Case {
        rate_per_s: 20_000.0,
        connections: 64,
        depth: 16,
    },
    Case {
        rate_per_s: 100_000.0,
        connections: 256,
        depth: 1,
    },
    Case {
        rate_per_s: 100_000.0,
        connections: 64,
        depth: 16,
    },
];

fn main() {
    let seconds = std::env::args()
        .nth(1)
        .map_or(5, |text| text.parse().unwrap());
    let address = serve();
    println!(
        "{:>9} {:>6} {:>6} {:>8} {:>9} {:>9} {:>10} {:>10} {:>8} {:>7}",
        "rate/s",
        "conns",
        "depth",
        "sent",
        "lag p50",
        "lag p99",
        "resp. p99",
        "cpu/req",
        "wrk",
        "ratio"
    );
    for case in CASES {
        measure(&case, seconds, address);
    }
}

fn measure(case: &Case, seconds: u64, address: SocketAddr) {
    let mut plan = run::plan(case.rate_per_s, seconds * 1_000);
    plan.load.connections = case.connections;
    plan.load.depth = case.depth;
    let summary = run::ran(&plan, address).summary;
    let own_us = summary.generator_cpu_ms as f64 * 1_000.0 / summary.sent as f64;
    let wrk_us = wrk(case, seconds, address);
    println!(
        "{:>9} {:>6} {:>6} {:>7.2}% {:>6} µs {:>6} µs {:>7} µs {:>7.2} µs {:>8} {:>7}",
        case.rate_per_s,
        case.connections,
        case.depth,
        summary.sent_share * 100.0,
        summary.schedule_lag_us.p50,
        summary.schedule_lag_us.p99,
        summary.response_us.p99,
        own_us,
        wrk_us.map_or("-".to_owned(), |us| format!("{us:.2} µs")),
        wrk_us.map_or("-".to_owned(), |us| format!("{:.2}", own_us / us)),
    );
}

/// A server that says "sold out" to everything, on one thread of its own.
fn serve() -> SocketAddr {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        runtime.block_on(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(connection(stream));
            }
        })
    });
    address
}

async fn connection(stream: TcpStream) {
    stream.set_nodelay(true).unwrap();
    let _ = http1::Builder::new()
        .pipeline_flush(true)
        .serve_connection(TokioIo::new(stream), service_fn(sold_out))
        .await;
}

async fn sold_out(_: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = Bytes::from_static(br#"{"type":"about:blank","status":409,"reason":"sold_out"}"#);
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = StatusCode::CONFLICT;
    Ok(response)
}

/// CPU of wrk per request in microseconds, at its own pace with the same connections and depth.
fn wrk(case: &Case, seconds: u64, address: SocketAddr) -> Option<f64> {
    let script = std::env::temp_dir().join(format!("fd-bench-{}.lua", std::process::id()));
    fs::write(&script, wrk_script(case.depth)).unwrap();
    let child = Command::new("wrk")
        .args(["-t1", "-c", &case.connections.to_string()])
        .args(["-d", &format!("{seconds}s"), "-s"])
        .arg(&script)
        .arg(format!("http://{address}/orders"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(child) = child else {
        let _ = fs::remove_file(&script);
        return None;
    };
    let stat = format!("/proc/{}/stat", child.id());
    // wrk ends just after its time; its CPU is read just before.
    thread::sleep(Duration::from_millis(seconds * 1_000 - 50));
    let cpu_ms = cpu_ms(&fs::read_to_string(stat).unwrap());
    let output = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let _ = fs::remove_file(&script);
    let requests: f64 = output
        .lines()
        .find_map(|line| line.trim().split_once(" requests in "))
        .map(|(count, _)| count.parse().unwrap())?;
    Some(cpu_ms * 1_000.0 / requests)
}

/// The buy request of the tests, `depth` of them at a time.
fn wrk_script(depth: u32) -> String {
    let body = r#"{"sale":"sale","sku":"s0","user":"u000000000000","quantity":1,"request_id":"000000000000000000000000"}"#;
    format!(
        "local r\n\
         init = function(args)\n\
           local one = wrk.format('POST', '/orders', {{['Content-Type']='application/json'}}, '{body}')\n\
           r = string.rep(one, {depth})\n\
         end\n\
         request = function() return r end\n"
    )
}

/// User and system time in a line of `/proc/pid/stat`; the clock tick is 10 ms on every Linux.
fn cpu_ms(stat: &str) -> f64 {
    let after_name = stat.rsplit_once(')').unwrap().1;
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    ticks as f64 * 10.0
}
