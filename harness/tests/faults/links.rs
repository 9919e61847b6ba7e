//! Faults of links, on a link of our own to a Redis node.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use flashdrill::environment::Stack;
use flashdrill::faults::{
    Fault, LinkBandwidth, LinkBlackHole, LinkDown, LinkHalfOpen, LinkLatency, LinkLimitData,
    LinkReset, LinkSlicing, LinkSlowClose, LinkStall, LinkUnreachable, Links, Lost, Streams,
};
use flashdrill::proxy::client::LinkRequest;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::{count, missing, planned, receipt, run, run_all};

const LINK: &str = "own-redis";
/// Long enough to be sliced, and to take its time on a narrow link.
const PAYLOAD_BYTES: usize = 8 << 10;
const FOR_MS: u64 = 700;

fn links() -> Links {
    Links::new(vec!["own-*".to_owned()]).unwrap()
}

/// Opens the link, unless it is there; returns where it listens.
async fn open(stack: &Stack) -> SocketAddr {
    let request = LinkRequest::new(LINK, "127.0.0.1:0", stack.redis.node(0).address());
    if !stack.links.proxies().await.unwrap().contains_key(LINK) {
        stack.links.put(&request).await.unwrap();
    }
    let view = stack.links.proxies().await.unwrap().remove(LINK).unwrap();
    view.listen.parse().unwrap()
}

/// What a client saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Answer {
        after_ms: u128,
    },
    Silence,
    Refused,
    Reset,
    Closed,
    /// Neither accepted nor refused.
    NoConnection,
}

/// Talks through the link, on one connection as long as it lasts, until dropped.
async fn talk(link: SocketAddr, patience: Duration, seen: &mut Vec<Seen>) {
    loop {
        match timeout(patience, TcpStream::connect(link)).await {
            Ok(Ok(stream)) => exchange_until_it_breaks(stream, patience, seen).await,
            Ok(Err(error)) if error.kind() == ErrorKind::ConnectionRefused => {
                seen.push(Seen::Refused);
            }
            Ok(Err(error)) => panic!("{error}"),
            Err(_) => seen.push(Seen::NoConnection),
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn exchange_until_it_breaks(mut stream: TcpStream, patience: Duration, seen: &mut Vec<Seen>) {
    loop {
        let what = exchange(&mut stream, patience).await;
        seen.push(what);
        if !matches!(what, Seen::Answer { .. }) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn exchange(stream: &mut TcpStream, patience: Duration) -> Seen {
    let begun = Instant::now();
    let payload = "x".repeat(PAYLOAD_BYTES);
    let request = format!("*2\r\n$4\r\nECHO\r\n${PAYLOAD_BYTES}\r\n{payload}\r\n");
    let head = format!("${PAYLOAD_BYTES}\r\n");
    let mut answer = vec![0; head.len() + PAYLOAD_BYTES + 2];
    let both = async {
        stream.write_all(request.as_bytes()).await?;
        stream.read_exact(&mut answer).await
    };
    match timeout(patience, both).await {
        Ok(Ok(_)) => Seen::Answer {
            after_ms: begun.elapsed().as_millis(),
        },
        Ok(Err(error)) if error.kind() == ErrorKind::ConnectionReset => Seen::Reset,
        Ok(Err(_)) => Seen::Closed,
        Err(_) => Seen::Silence,
    }
}

/// One fault, and what a client saw of it.
async fn suffer(stack: &Stack, fault: Fault, patience_ms: u64) -> (String, Vec<Seen>) {
    let link = open(stack).await;
    let mut seen = Vec::new();
    let patience = Duration::from_millis(patience_ms);
    let event = tokio::select! {
        event = run_all(stack, vec![planned(100, FOR_MS, fault)]) => event,
        () = talk(link, patience, &mut seen) => unreachable!("it talks until dropped"),
    };
    (receipt(event.into_iter().next().unwrap()), seen)
}

/// The link is as if nothing had been.
async fn is_clean(stack: &Stack) {
    let link = open(stack).await;
    assert_eq!(stack.links.toxics(LINK).await.unwrap(), []);
    let mut stream = TcpStream::connect(link).await.unwrap();
    let seen = exchange(&mut stream, Duration::from_secs(5)).await;
    assert!(matches!(seen, Seen::Answer { .. }), "{seen:?}");
}

/// An answer that came later than this; without a fault it takes about a millisecond.
fn later_than(ms: u128) -> impl Fn(&Seen) -> bool {
    move |seen| matches!(seen, Seen::Answer { after_ms } if *after_ms >= ms)
}

fn is(what: Seen) -> impl Fn(&Seen) -> bool {
    move |seen| *seen == what
}

struct Case {
    fault: Fault,
    receipt: &'static str,
    /// Longer than the fault where an answer is to come after all.
    patience_ms: u64,
    shows: Box<dyn Fn(&Seen) -> bool>,
}

fn case(
    fault: Fault,
    receipt: &'static str,
    patience_ms: u64,
    shows: impl Fn(&Seen) -> bool + 'static,
) -> Case {
    Case {
        fault,
        receipt,
        patience_ms,
        shows: Box::new(shows),
    }
}

fn slow() -> Vec<Case> {
    let (links, stream) = (links(), Streams::Both);
    let latency = LinkLatency {
        links: links.clone(),
        stream,
        latency_ms: count(100),
        jitter_ms: 10,
    };
    let bandwidth = LinkBandwidth {
        links: links.clone(),
        stream,
        rate_kb_s: count(50),
    };
    let slicing = LinkSlicing {
        links: links.clone(),
        stream,
        slice_bytes: count(256),
        variation_bytes: 0,
        delay_us: 3_000,
    };
    let stall = LinkStall { links, stream };
    vec![
        case(
            Fault::LinkLatency(latency),
            "bytes delayed",
            5_000,
            later_than(180),
        ),
        case(
            Fault::LinkBandwidth(bandwidth),
            "bytes made to wait",
            5_000,
            later_than(150),
        ),
        case(
            Fault::LinkSlicing(slicing),
            "in slices",
            5_000,
            later_than(90),
        ),
        case(
            Fault::LinkStall(stall),
            "bytes held back",
            5_000,
            later_than(400),
        ),
    ]
}

fn broken() -> Vec<Case> {
    let links = links();
    let black_hole = LinkBlackHole {
        links: links.clone(),
        stream: Streams::Both,
    };
    let half_open = LinkHalfOpen {
        links: links.clone(),
        lost: Lost::Answers,
    };
    let limit = LinkLimitData {
        links: links.clone(),
        stream: Streams::Downstream,
        bytes: count(20_000),
    };
    let reset = LinkReset {
        links: links.clone(),
        every_ms: 100,
    };
    let down = LinkDown {
        links: links.clone(),
    };
    let unreachable = LinkUnreachable {
        links,
        reset_live: true,
    };
    vec![
        case(
            Fault::LinkBlackHole(black_hole),
            "bytes swallowed",
            200,
            is(Seen::Silence),
        ),
        case(
            Fault::LinkHalfOpen(half_open),
            "passed in the other",
            200,
            is(Seen::Silence),
        ),
        case(
            Fault::LinkLimitData(limit),
            "closed at the limit",
            5_000,
            is(Seen::Closed),
        ),
        case(
            Fault::LinkReset(reset),
            "connections reset so far",
            5_000,
            is(Seen::Reset),
        ),
        case(
            Fault::LinkDown(down),
            "a connect is refused on own-redis",
            5_000,
            is(Seen::Refused),
        ),
        case(
            Fault::LinkUnreachable(unreachable),
            "a connect hangs",
            200,
            is(Seen::NoConnection),
        ),
    ]
}

pub async fn each_kind_bites_and_heals(stack: &Stack) {
    for case in slow().into_iter().chain(broken()) {
        let kind = case.fault.kind();
        let (receipt, seen) = suffer(stack, case.fault, case.patience_ms).await;
        assert!(receipt.contains(case.receipt), "{kind}: {receipt}");
        assert!(seen.iter().any(|one| (case.shows)(one)), "{kind}: {seen:?}");
        is_clean(stack).await;
    }
    an_end_comes_late(stack).await;
}

async fn an_end_comes_late(stack: &Stack) {
    let link = open(stack).await;
    let slow_close = LinkSlowClose {
        links: links(),
        delay_ms: count(300),
    };
    let close = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let mut stream = TcpStream::connect(link).await.unwrap();
        let begun = Instant::now();
        stream.shutdown().await.unwrap();
        stream.read_to_end(&mut Vec::new()).await.unwrap();
        begun.elapsed()
    };
    let (event, took) = tokio::join!(run(stack, 1_500, Fault::LinkSlowClose(slow_close)), close);
    let receipt = receipt(event);
    assert!(receipt.starts_with("a close came"), "{receipt}");
    assert!(took >= Duration::from_millis(250), "{took:?}");
    is_clean(stack).await;
}

fn latency(latency_ms: u64) -> Fault {
    Fault::LinkLatency(LinkLatency {
        links: links(),
        stream: Streams::Downstream,
        latency_ms: count(latency_ms),
        jitter_ms: 0,
    })
}

pub async fn two_faults_on_one_link_add_up_and_heal_apart(stack: &Stack) {
    let link = open(stack).await;
    let mut stream = TcpStream::connect(link).await.unwrap();
    let watch = async {
        let (mut counts, mut slowest_ms) = (vec![0], 0);
        loop {
            if let Seen::Answer { after_ms } = exchange(&mut stream, Duration::from_secs(5)).await {
                slowest_ms = slowest_ms.max(after_ms);
            }
            let toxics = stack.links.toxics(LINK).await.unwrap().len();
            if counts.last() != Some(&toxics) {
                counts.push(toxics);
            }
            if toxics == 0 && counts.len() > 1 {
                break;
            }
        }
        (counts, slowest_ms)
    };
    let faults = vec![
        planned(100, 1_500, latency(60)),
        planned(400, 500, latency(120)),
    ];
    let (events, (counts, slowest_ms)) = tokio::join!(run_all(stack, faults), watch);
    for event in events {
        assert!(receipt(event).contains("bytes delayed"));
    }
    assert_eq!(counts, [0, 1, 2, 1, 0]);
    assert!(slowest_ms >= 170, "{slowest_ms}");
}

pub async fn without_traffic_or_link_there_is_no_receipt(stack: &Stack) {
    open(stack).await;
    let reason = missing(run(stack, 100, latency(5)).await);
    assert!(reason.contains("nothing flowed"), "{reason}");
    let nowhere = LinkDown {
        links: Links::new(vec!["service-7-*".to_owned()]).unwrap(),
    };
    let reason = missing(run(stack, 100, Fault::LinkDown(nowhere)).await);
    assert!(
        reason.contains("no link is called `service-7-*`; there are"),
        "{reason}"
    );
    assert!(reason.contains("own-redis"), "{reason}");
}
