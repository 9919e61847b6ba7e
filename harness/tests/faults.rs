//! Faults on real servers: they bite, the receipts say so, and everything is healed.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests may panic, as tests do"
)]

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use flashdrill::drill::plan::PlannedFault;
use flashdrill::drill::plan::Sku;
use flashdrill::drill::range::Count;
use flashdrill::environment::{Stack, StackOptions};
use flashdrill::faults::{
    self, BrokerKill, CacheStockRaise, Fault, FaultEvent, RedisPrimaryKill, Site, Timeline,
};
use flashdrill::target::template::Variables;
use flashdrill::target::{StateQueries, Target};
use redis::cmd;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const LOG_KEY: &str = "fs:{sale:s1}:log";

fn logs(test: &str) -> PathBuf {
    std::env::temp_dir().join(format!("flashdrill-test-{test}-{}", std::process::id()))
}

async fn start(test: &str) -> Stack {
    let progress = Arc::new(|line: &str| println!("{line}"));
    let options = StackOptions {
        name: test.to_owned(),
        keep_logs_in: logs(test),
        progress,
    };
    Stack::start(&options).await.expect("the stack starts")
}

async fn stop(stack: Stack, test: &str) {
    stack.stop().await;
    std::fs::remove_dir_all(logs(test)).unwrap();
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// A target of which only the Redis commands matter.
fn target() -> Target {
    Target {
        state: StateQueries {
            cache_available: words("HGET fs:{{{sale}:{sku}}}:stock available"),
            cache_add: words("HINCRBY fs:{{{sale}:{sku}}}:stock available {delta}"),
            ..StateQueries::default()
        },
        ..Target::default()
    }
}

fn variables(stack: &Stack) -> Variables {
    let mut variables = stack.variables();
    variables.insert("sale".to_owned(), "sale".to_owned());
    variables
}

fn count(value: u64) -> Count {
    Count::new(value).unwrap()
}

fn broker_kill(cut_requests_ms: u64) -> Fault {
    Fault::BrokerKill(BrokerKill { cut_requests_ms })
}

/// The run may drive faults from a task of its own.
fn spawnable<T: Send>(future: T) -> T {
    future
}

async fn run(stack: &Stack, at_ms: u64, for_ms: u64, fault: Fault) -> FaultEvent {
    let for_ms = fault.about().heals.then_some(for_ms);
    let planned = PlannedFault {
        at_ms,
        for_ms,
        fault,
    };
    run_planned(stack, planned, false).await
}

async fn run_planned(stack: &Stack, planned: PlannedFault, cancelled: bool) -> FaultEvent {
    let cancel = AtomicBool::new(cancelled);
    let (target, variables) = (target(), variables(stack));
    let skus = [Sku {
        id: "s1".to_owned(),
        stock: 10,
    }];
    let site = Site {
        stack,
        target: &target,
        variables: &variables,
        skus: &skus,
    };
    let timeline = Timeline {
        clock: Instant::now(),
        cancel: &cancel,
        tell: &|event| println!("{}", event.news()),
    };
    let planned = [planned];
    let running = faults::run(&planned, site, timeline);
    let mut events = spawnable(running).await;
    let event = events.pop().expect("one fault, one event");
    println!("{event:#?}");
    event
}

/// Appends numbers through the service's link until the connection fails; returns those that were
/// acknowledged.
async fn write_until_it_breaks(stack: &Stack) -> Vec<u64> {
    let primary = stack.redis.primary_of(LOG_KEY).await.unwrap();
    let links = stack.service_links(0).await.unwrap();
    let port = links.redis[primary.index];
    let client = redis::Client::open(format!("redis://127.0.0.1:{port}/")).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let mut acknowledged = Vec::new();
    for number in 0.. {
        let answer: redis::RedisResult<u64> = cmd("RPUSH")
            .arg(LOG_KEY)
            .arg(number)
            .query_async(&mut connection)
            .await;
        if answer.is_err() {
            break;
        }
        acknowledged.push(number);
    }
    acknowledged
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_redis_primary_loses_acknowledged_writes() {
    let stack = start("primary-kill").await;
    let fault = Fault::RedisPrimaryKill(RedisPrimaryKill {
        sku: count(1),
        cut_replication_ms: 600,
    });
    let (acknowledged, event) = tokio::join!(
        write_until_it_breaks(&stack),
        run(&stack, 300, 6_000, fault)
    );
    assert_eq!(event.error, None);
    let receipt = event.receipt.expect("a receipt");
    for part in ["signal 9", "bytes held back", "is primary of slot"] {
        assert!(receipt.contains(part), "{receipt}");
    }
    assert!(event.healed_at_ms.is_some());

    let heir = stack.redis.primary_of(LOG_KEY).await.unwrap();
    let kept: Vec<u64> = heir
        .query(cmd("LRANGE").arg(LOG_KEY).arg(0).arg(-1))
        .await
        .unwrap();
    let kept: HashSet<u64> = kept.into_iter().collect();
    let lost = acknowledged
        .iter()
        .filter(|number| !kept.contains(number))
        .count();
    println!("{lost} of {} acknowledged writes lost", acknowledged.len());
    assert!(lost > 0, "the fault is meant to lose writes");
    assert!(lost < acknowledged.len(), "those before the cut are kept");

    let begun = Instant::now();
    stack.reset().await.unwrap();
    println!("reset after a failover {} ms", begun.elapsed().as_millis());
    stop(stack, "primary-kill").await;
}

/// Sends the broker frames through the service's link, as a client would, until it is closed.
async fn talk_to_the_broker(stack: &Stack) {
    let port = stack.rocketmq.broker_address.port();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let header = br#"{"code":28,"language":"OTHER","version":0,"opaque":7,"flag":0}"#;
    let length = header.len() as u32;
    let frame = [
        &(length + 4).to_be_bytes()[..],
        &length.to_be_bytes()[..],
        header.as_slice(),
    ]
    .concat();
    let mut answer = [0; 4096];
    loop {
        tokio::select! {
            read = stream.read(&mut answer) => if matches!(read, Ok(0) | Err(_)) { return },
            () = tokio::time::sleep(Duration::from_millis(5)) => {
                if stream.write_all(&frame).await.is_err() { return }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_broker_comes_back_and_stock_can_be_raised() {
    let stack = start("broker-kill").await;
    stack.rocketmq.create_topic("orders", 20).await.unwrap();
    let fault = broker_kill(200);
    let (event, ()) = tokio::join!(run(&stack, 300, 1_000, fault), talk_to_the_broker(&stack));
    assert_eq!(event.error, None);
    let receipt = event.receipt.expect("a receipt");
    assert!(receipt.contains("signal 9"), "{receipt}");
    assert!(!receipt.contains("; 0 bytes"), "{receipt}");
    assert!(event.healed_at_ms.is_some());
    assert_eq!(stack.rocketmq.backlog("orders", "group").await.unwrap(), 0);

    raised_stock_is_seen(&stack).await;
    a_fault_without_effect_has_no_receipt(&stack).await;
    a_cancelled_fault_is_not_injected(&stack).await;
    stop(stack, "broker-kill").await;
}

async fn raised_stock_is_seen(stack: &Stack) {
    let key = "fs:{sale:s1}:stock";
    let primary = stack.redis.primary_of(key).await.unwrap();
    let _: u64 = primary
        .query(cmd("HSET").arg(key).arg("available").arg(10))
        .await
        .unwrap();
    let raise = CacheStockRaise {
        sku: count(1),
        units: count(5),
    };
    let event = run(stack, 0, 0, Fault::CacheStockRaise(raise)).await;
    assert_eq!(
        (event.heals, event.healed_at_ms, event.error),
        (false, None, None)
    );
    assert!(event.receipt.expect("a receipt").ends_with("10 -> 15"));
}

/// Nobody talks to the broker: nothing is held back, so there is no proof that the fault bit.
async fn a_fault_without_effect_has_no_receipt(stack: &Stack) {
    let event = run(stack, 0, 50, broker_kill(50)).await;
    assert_eq!(event.receipt, None);
    assert!(event.error.expect("a reason").contains("no request"));
    assert!(event.healed_at_ms.is_some(), "it is healed all the same");
}

async fn a_cancelled_fault_is_not_injected(stack: &Stack) {
    let planned = PlannedFault {
        at_ms: 60_000,
        for_ms: Some(60_000),
        fault: broker_kill(0),
    };
    let event = run_planned(stack, planned, true).await;
    assert!(
        event
            .error
            .as_ref()
            .is_some_and(|error| error.contains("cancelled"))
    );
    assert!(stack.rocketmq.broker.is_alive());
}
