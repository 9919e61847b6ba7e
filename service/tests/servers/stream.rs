//! The stream path: the reservation appends its message, consumers finish it after the commit, and what one leaves
//! pending another takes over.

use std::time::Duration;

use flashsale::gateway::reason::Reason;
use flashsale::queue::QueuePath;
use flashsale::sale::buy::Answer;
use flashsale::stock::stream::Take;

use crate::support::shop::{SALE, SKU, ShopBench, queued};

async fn bench(nodes: usize, stock: i64) -> ShopBench {
    let bench = ShopBench::start_on(QueuePath::Stream, nodes, stock, 1, Duration::ZERO).await;
    bench.open().await;
    bench
}

#[tokio::test(flavor = "multi_thread")]
async fn every_grant_has_one_message_and_every_message_one_order() {
    let bench = bench(2, 50).await;
    let answers = bench.buy_all(0..200).await;
    let sold_out = Answer::Refused(Reason::SoldOut);
    assert_eq!(queued(&answers), 50);
    assert_eq!(
        answers.iter().filter(|answer| **answer == sold_out).count(),
        150
    );
    assert_eq!(bench.settled().await, (0, 50));
    let sku = bench.app.shop.catalogue.find(SALE, SKU).unwrap();
    assert_eq!(bench.app.stock.unfinished(&sku).await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_dead_consumer_has_in_hand_is_taken_over() {
    let mut bench = bench(1, 10).await;
    let sku = bench.app.shop.catalogue.find(SALE, SKU).unwrap();
    let stock = bench.app.stock.clone();
    let idle = Take::Idle(Duration::from_millis(50));
    // The node's own consumer stands still, and a stranger takes what there is.
    bench.nodes[0].tasks.abort_all();
    while bench.nodes[0].tasks.join_next().await.is_some() {}
    assert_eq!(queued(&bench.buy_all(0..3).await), 3);
    assert_eq!(
        stock.take(&sku, "stranger", Take::New).await.unwrap().len(),
        3
    );
    assert_eq!(stock.take(&sku, "other", Take::New).await.unwrap(), []);
    assert_eq!(
        stock.take(&sku, "other", idle).await.unwrap(),
        [],
        "not idle yet"
    );
    tokio::time::sleep(Duration::from_millis(60)).await;
    let over = stock.take(&sku, "other", idle).await.unwrap();
    assert_eq!(over.len(), 3);
    assert!(over.iter().all(|message| message.order.is_some()));
    let ids: Vec<String> = over.into_iter().map(|message| message.id).collect();
    stock.finish(&sku, &ids[..2]).await.unwrap();
    assert_eq!(stock.unfinished(&sku).await.unwrap(), 1);
    tokio::time::sleep(Duration::from_millis(60)).await;
    assert_eq!(stock.take(&sku, "stranger", idle).await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_primary_that_lost_its_stream_keeps_what_was_promised() {
    let mut bench = bench(1, 50).await;
    assert_eq!(queued(&bench.buy_all(0..20).await), 20);
    bench.lose_redis().await;
    assert_eq!(bench.settled().await, (30, 20));
    assert_eq!(queued(&bench.buy_all(100..200).await), 30);
    assert_eq!(bench.settled().await, (0, 50));
}
