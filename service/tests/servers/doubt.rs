//! A reservation whose answer is lost: what its buyer is told while nobody knows, by each way that orders can take.

use std::sync::Arc;
use std::time::Duration;

use flashsale::gateway::reason::Reason;
use flashsale::queue::QueuePath;
use flashsale::sale::buy::Answer;
use flashsale::sale::order::OrderId;
use flashsale::sale::promises::PromiseState;

use crate::support::shop::{SALE, SKU, ShopBench, buy};

/// Redis stands still for longer than anybody waits for it.
const PAUSE_MS: u64 = 4_000;

/// The first click's reservation gets no answer, the second click comes while nobody knows of it.
async fn two_clicks(path: QueuePath) -> (Answer, Answer, ShopBench) {
    let bench = ShopBench::start_on(path, 1, 10, 1, Duration::ZERO).await;
    bench.open().await;
    let mut redis = bench.node.as_ref().unwrap().connect().await;
    redis::cmd("CLIENT")
        .arg(&["PAUSE", &PAUSE_MS.to_string(), "ALL"])
        .exec_async(&mut redis)
        .await
        .unwrap();
    let app = Arc::clone(&bench.app);
    let first = tokio::spawn(async move { buy(&app, 1).await });
    let id = OrderId::derive(SALE, SKU, "u1", "r1").to_string();
    let state = || {
        bench
            .app
            .desk
            .promises
            .get(&id)
            .map(|promise| promise.state)
    };
    while state() != Some(PromiseState::Unknown) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let second = buy(&bench.app, 1).await;
    (first.await.unwrap(), second, bench)
}

#[tokio::test(flavor = "multi_thread")]
async fn without_messages_nobody_is_told_of_an_order_that_may_not_be() {
    for path in [QueuePath::Outbox, QueuePath::Stream] {
        let (first, second, bench) = two_clicks(path).await;
        assert_eq!(second, Answer::Refused(Reason::Paused), "{path:?}");
        let is_known = matches!(first, Answer::Queued(_));
        assert!(
            is_known || first == Answer::Refused(Reason::InDoubt),
            "{path:?}: {first:?}"
        );
        let (available, live) = bench.settled().await;
        assert_eq!(available + live, 10, "{path:?}");
        assert!(live == 1 || !is_known, "{path:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn with_messages_check_back_decides_and_both_clicks_are_the_same_order() {
    let (first, second, _bench) = two_clicks(QueuePath::RocketMq).await;
    let Answer::Queued(id) = first else {
        panic!("{first:?}")
    };
    assert_eq!(second, Answer::Same(id));
}
