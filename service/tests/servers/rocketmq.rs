//! Producer and consumer against a real broker and a real MariaDB: what is committed is applied once, what is
//! rolled back never, and an outage ends with the broker's return.
//!
//! Ignored by default because they need Apache's jars: `FLASHDRILL_ROCKETMQ=folder cargo test --release -p
//! flashsale --test servers rocketmq -- --ignored --nocapture`.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use flashsale::queue::rocketmq::{Consumer, Depth, Producer};
use flashsale::queue::{Decision, LocalTransaction, QueueSettings, Submitted};
use flashsale::sale::order::{OrderMessage, Reserved};
use flashsale::sale::sku::Rules;
use flashsale::store::{Applied, AppliedOutcome, Store};

use crate::support::mariadb;
use crate::support::rocketmq::{RocketMq, Route};

/// Nothing a healthy machine needs longer for; a busy one may.
const PATIENCE: Duration = Duration::from_secs(60);

/// A ledger in memory: what each order's reservation answers, and what check-back is told.
#[derive(Default)]
struct Ledger {
    reserved: Mutex<HashMap<String, u32>>,
    check_backs: AtomicU32,
}

impl LocalTransaction for Ledger {
    async fn reserve(&self, message: &OrderMessage) -> Reserved {
        *self
            .reserved
            .lock()
            .unwrap()
            .entry(message.order_id.clone())
            .or_default() += 1;
        match fortune(&message.user) {
            "sold out" => Reserved::SoldOut,
            "unknown" | "unknown and lost" => Reserved::Unknown,
            _ => Reserved::Granted { remaining: 1 },
        }
    }

    async fn check(&self, message: &OrderMessage) -> Decision {
        self.check_backs.fetch_add(1, Ordering::Relaxed);
        let reserved = self.reserved.lock().unwrap();
        match fortune(&message.user) {
            "sold out" | "unknown and lost" => Decision::RollBack,
            _ if reserved.contains_key(&message.order_id) => Decision::Commit,
            _ => Decision::RollBack, // A half message whose acknowledgement was lost.
        }
    }
}

/// What becomes of a buyer: the name up to a stroke.
fn fortune(user: &str) -> &str {
    user.split_once('/').map_or(user, |(fortune, _)| fortune)
}

/// Everything a test needs, with its own topic.
struct Stage {
    servers: RocketMq,
    store: Store,
    ledger: Arc<Ledger>,
    settings: QueueSettings,
    applied: Arc<Mutex<Vec<Applied>>>,
}

impl Stage {
    async fn set(name: &str, route: Route) -> Self {
        // RUST_LOG=flashsale=debug shows what the service sees; the library logs every attempt of an outage.
        let _ = tracing_subscriber::fmt()
            .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
            .try_init();
        let store = mariadb::store().await;
        let rules = Rules {
            limit_per_user: 1,
            ..Rules::default()
        };
        store.put_sale("sale", rules).await.unwrap();
        for sku in 0..5 {
            let sku = format!("sku-{sku}");
            store.put_sku("sale", &sku, 1_000_000).await.unwrap();
        }
        let servers = RocketMq::start(name, route).await;
        let settings = QueueSettings {
            namesrv: servers.namesrv.clone(),
            topic: "orders".to_owned(),
            group: "flashsale".to_owned(),
            orders_per_message_max: 100,
            batch_max: 100,
            age_max: Duration::MAX,
        };
        Self {
            servers,
            store,
            ledger: Arc::default(),
            settings,
            applied: Arc::default(),
        }
    }

    async fn producer(&self) -> Producer {
        Producer::start(&self.settings, Arc::clone(&self.ledger))
            .await
            .unwrap()
    }

    async fn consumer(&self) -> Consumer {
        let applied = Arc::clone(&self.applied);
        let hear = move |batch: &[Applied]| applied.lock().unwrap().extend_from_slice(batch);
        Consumer::start(&self.settings, self.store.clone(), hear)
            .await
            .unwrap()
    }

    fn applied(&self, outcome: AppliedOutcome) -> usize {
        let applied = self.applied.lock().unwrap();
        applied.iter().filter(|a| a.outcome == outcome).count()
    }

    async fn wait_for(&self, created: usize) {
        let begun = Instant::now();
        while self.applied(AppliedOutcome::Created) < created {
            let seen = self.applied(AppliedOutcome::Created);
            assert!(
                begun.elapsed() < PATIENCE,
                "{seen} of {created} applied; missing: {:?}",
                self.missing()
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Reserved orders that have not been created.
    fn missing(&self) -> Vec<String> {
        let applied = self.applied.lock().unwrap();
        let reserved = self.ledger.reserved.lock().unwrap();
        let created: std::collections::HashSet<&String> =
            applied.iter().map(|a| &a.order_id).collect();
        let missing = reserved.keys().filter(|id| !created.contains(id));
        missing.cloned().collect()
    }

    async fn wait_for_lag_zero(&self) {
        let depth = Depth::new(&self.settings);
        let begun = Instant::now();
        loop {
            let lag = depth.read().await.map(|read| read.backlog());
            if matches!(lag, Ok(0)) {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "lag stays {lag:?}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

fn order(n: usize, user: &str) -> OrderMessage {
    OrderMessage {
        order_id: format!("{n:032x}"),
        sale: "sale".to_owned(),
        sku: format!("sku-{}", n % 5),
        user: user.to_owned(),
        quantity: 1,
        request_id: format!("request-{n}"),
        at_ms: n as u64,
    }
}

/// Submits orders `from..to`, `width` at a time; returns how many were granted and how many found no queue.
async fn submit(producer: &Producer, from: usize, to: usize, width: usize) -> (usize, usize) {
    let next = Arc::new(AtomicUsize::new(from));
    let granted = Arc::new(AtomicUsize::new(0));
    let refused = Arc::new(AtomicUsize::new(0));
    let mut workers = Vec::new();
    for _ in 0..width {
        let (producer, next) = (producer.clone(), Arc::clone(&next));
        let (granted, refused) = (Arc::clone(&granted), Arc::clone(&refused));
        workers.push(tokio::spawn(async move {
            loop {
                let n = next.fetch_add(1, Ordering::Relaxed);
                if n >= to {
                    return;
                }
                match producer.submit(order(n, &format!("user-{n}"))).await {
                    Submitted::Decided(Reserved::Granted { .. }) => {
                        granted.fetch_add(1, Ordering::Relaxed);
                    }
                    Submitted::QueueUnavailable | Submitted::InDoubt => {
                        refused.fetch_add(1, Ordering::Relaxed);
                    }
                    Submitted::Decided(other) => panic!("{other:?}"),
                }
            }
        }));
    }
    for worker in workers {
        worker.await.unwrap();
    }
    (
        granted.load(Ordering::Relaxed),
        refused.load(Ordering::Relaxed),
    )
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs RocketMQ's jars in FLASHDRILL_ROCKETMQ"]
async fn commits_are_applied_once_and_rollbacks_never() {
    let stage = Stage::set("transactions", Route::Direct).await;
    let producer = stage.producer().await;
    let consumer = stage.consumer().await;
    let begun = Instant::now();
    let (granted, refused) = submit(&producer, 0, 10_000, 64).await;
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "{:.0} transactions/s, {refused} refused",
        10_000.0 / seconds
    );
    assert_eq!(granted + refused, 10_000);
    assert!(granted > refused, "{granted} granted, {refused} refused");
    let sold_out = producer.submit(order(20_000, "sold out")).await;
    assert_eq!(sold_out, Submitted::Decided(Reserved::SoldOut));
    for (n, user) in [(20_001, "unknown"), (20_002, "unknown and lost")] {
        let doubtful = producer.submit(order(n, user)).await;
        assert_eq!(doubtful, Submitted::Decided(Reserved::Unknown));
    }
    stage.wait_for(granted + 1).await; // Check-back commits one of the doubtful ones.
    println!("all applied {:?} after the first submit", begun.elapsed());
    stage.wait_for_lag_zero().await;
    tokio::time::sleep(Duration::from_secs(4)).await; // Nothing new comes.
    let redelivered = stage.applied(AppliedOutcome::AlreadyApplied);
    println!("{redelivered} redelivered");
    assert_eq!(stage.applied(AppliedOutcome::Created), granted + 1);
    assert_eq!(
        stage.applied.lock().unwrap().len(),
        granted + 1 + redelivered
    );
    for (n, stored) in [(20_000, false), (20_001, true), (20_002, false)] {
        let row = stage.store.order(&order(n, "").order_id).await.unwrap();
        assert_eq!(row.is_some(), stored, "{n}");
    }
    println!(
        "{} check-backs",
        stage.ledger.check_backs.load(Ordering::Relaxed)
    );
    consumer.stop().await;
    producer.stop().await;
}

/// Buyers of one message who are answered differently.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs RocketMQ's jars in FLASHDRILL_ROCKETMQ"]
async fn who_shares_a_message_does_not_share_its_fate() {
    let stage = Stage::set("shared", Route::Direct).await;
    let producer = stage.producer().await;
    let consumer = stage.consumer().await;
    let fortunes = ["granted", "sold out", "unknown", "unknown and lost"];
    let mut asked = tokio::task::JoinSet::new();
    for n in 0..2_000 {
        let producer = producer.clone();
        let user = format!("{}/{n}", fortunes[n % 4]);
        asked.spawn(async move { producer.submit(order(n, &user)).await });
    }
    let answers = asked.join_all().await;
    assert!(
        !answers.contains(&Submitted::QueueUnavailable),
        "{answers:?}"
    );
    assert!(
        producer.orders_per_message() > 4.0,
        "they did not share messages"
    );
    stage.wait_for(1_000).await; // Check-back commits those of whom nobody knew that they are granted.
    stage.wait_for_lag_zero().await;
    for n in 0..2_000 {
        let row = stage.store.order(&order(n, "").order_id).await.unwrap();
        assert_eq!(row.is_some(), n % 2 == 0, "{n}, {}", fortunes[n % 4]);
    }
    consumer.stop().await;
    producer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs RocketMQ's jars in FLASHDRILL_ROCKETMQ"]
async fn a_consumer_resumes_where_the_last_one_stopped() {
    let stage = Stage::set("resume", Route::Direct).await;
    let producer = stage.producer().await;
    let consumer = stage.consumer().await;
    let first = submit(&producer, 0, 500, 64).await.0;
    stage.wait_for(first).await;
    consumer.stop().await;
    let second = submit(&producer, 500, 1_000, 64).await.0;
    let consumer = stage.consumer().await;
    stage.wait_for(first + second).await;
    stage.wait_for_lag_zero().await;
    println!(
        "{} redelivered",
        stage.applied(AppliedOutcome::AlreadyApplied)
    );
    assert_eq!(stage.applied(AppliedOutcome::AlreadyApplied), 0);
    consumer.stop().await;
    producer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs RocketMQ's jars in FLASHDRILL_ROCKETMQ"]
async fn an_outage_ends_with_the_broker_s_return_refused() {
    outage("outage-direct", Route::Direct).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs RocketMQ's jars in FLASHDRILL_ROCKETMQ"]
async fn an_outage_ends_with_the_broker_s_return_behind_a_proxy() {
    outage("outage-proxy", Route::BehindProxy).await;
}

/// Kills the broker under load, keeps asking, starts it again.
async fn outage(name: &str, route: Route) {
    let mut stage = Stage::set(name, route).await;
    let producer = stage.producer().await;
    let consumer = stage.consumer().await;
    let before = submit(&producer, 0, 500, 64).await.0;
    let loading = tokio::spawn({
        let producer = producer.clone();
        async move { submit(&producer, 1_000, 6_000, 64).await }
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    stage.servers.kill_broker();
    let killed = Instant::now();
    let (granted, refused) = loading.await.unwrap();
    println!(
        "{granted} granted, {refused} unavailable, load ended {:?} after the kill",
        killed.elapsed()
    );
    assert!(refused > 0, "the kill came too late to be seen");
    tokio::time::sleep(Duration::from_secs(3)).await;
    let asked = Instant::now();
    assert_eq!(submit(&producer, 7_000, 7_100, 8).await, (0, 100));
    println!(
        "100 submits while down are refused in {:?}",
        asked.elapsed()
    );
    // Long enough for the library's own back-off to be in force.
    tokio::time::sleep(Duration::from_secs(5)).await;
    stage.servers.start_broker();
    let back = Instant::now();
    let mut n = 8_000;
    while submit(&producer, n, n + 1, 1).await.0 == 0 {
        n += 1;
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(back.elapsed() < PATIENCE, "the producer does not come back");
    }
    println!("producer works {:?} after the restart", back.elapsed());
    // What was granted before the kill and lost its commit comes by check-back, so at least these are applied.
    stage.wait_for(before + granted + 1).await;
    println!("all granted applied {:?} after the restart", back.elapsed());
    stage.wait_for_lag_zero().await;
    let distinct: std::collections::HashSet<String> = stage
        .applied
        .lock()
        .unwrap()
        .iter()
        .filter(|a| a.outcome == AppliedOutcome::Created)
        .map(|a| a.order_id.clone())
        .collect();
    let reserved = stage.ledger.reserved.lock().unwrap().clone();
    println!(
        "{} created, {} reserved, {} redelivered, {} check-backs",
        distinct.len(),
        reserved.len(),
        stage.applied(AppliedOutcome::AlreadyApplied),
        stage.ledger.check_backs.load(Ordering::Relaxed),
    );
    assert_eq!(distinct, reserved.into_keys().collect());
    consumer.stop().await;
    producer.stop().await;
}
