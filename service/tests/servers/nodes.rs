//! Several nodes of the service on one Redis and one MariaDB: they sell one stock, answer alike, and need no
//! particular one of them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use flashsale::gateway::reason::Reason;
use flashsale::sale::buy::Answer;
use flashsale::sale::desk::Change;
use flashsale::sale::sku::{Gate, Sku};
use flashsale::store::NODE_TTL;

use crate::support::mariadb;
use crate::support::shop::{SALE, SKU, ShopBench, buy};

/// Nothing a healthy machine needs longer for; a busy one may.
const PATIENCE: Duration = Duration::from_secs(60);

fn sku(bench: &ShopBench, node: usize) -> Arc<Sku> {
    let shop = &bench.nodes[node].app.shop;
    shop.catalogue.find(SALE, SKU).unwrap()
}

async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Users buy at the nodes in turn; returns who got an order.
async fn buy_in_turn(bench: &ShopBench, users: std::ops::Range<usize>) -> Vec<(usize, Answer)> {
    let mut queued = Vec::new();
    for user in users {
        let node = &bench.nodes[user % bench.nodes.len()];
        let answer = buy(&node.app, user).await;
        if matches!(answer, Answer::Queued(_)) {
            queued.push((user, answer));
        }
    }
    queued
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_sell_one_stock_and_answer_alike() {
    let mut bench = ShopBench::start_nodes(2, 30, 1, Duration::from_millis(300)).await;
    bench.open().await;
    for node in [0, 1] {
        assert_eq!(
            sku(&bench, node).gate(),
            Gate::Open,
            "open before the answer"
        );
    }
    let queued = buy_in_turn(&bench, 0..60).await;
    assert_eq!(queued.len(), 30);

    // Before MySQL has it, an order is known at either node.
    let (user, answer) = queued.last().unwrap();
    let Answer::Queued(id) = answer else {
        panic!("{answer:?}")
    };
    let other = &bench.nodes[(user + 1) % 2].app;
    let status = other.desk.status(&id.to_string()).await.unwrap();
    assert_eq!(status.unwrap().state, "queued");

    assert_eq!(bench.settled().await, (0, 30));
    for node in 0..2 {
        let sku = sku(&bench, node);
        until("every node knows that it is sold out", || {
            sku.marks.is_sold_out(1)
        })
        .await;
    }
    // From memory alone, at the node that did not accept it.
    drop(bench.node.take());
    for (user, answer) in &queued {
        let Answer::Queued(id) = answer else {
            panic!("{answer:?}")
        };
        let other = &bench.nodes[(user + 1) % 2].app;
        assert_eq!(buy(other, *user).await, Answer::Same(*id), "user {user}");
        assert_eq!(
            buy(other, user + 1_000).await,
            Answer::Refused(Reason::SoldOut)
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_is_cancelled_at_another_node_before_it_is_applied() {
    let bench = ShopBench::start_nodes(2, 1, 1, Duration::from_millis(500)).await;
    bench.open().await;
    let Answer::Queued(id) = buy(&bench.nodes[0].app, 1).await else {
        panic!("user 1 may buy")
    };
    let other = &bench.nodes[1].app;
    let cancelled = other.desk.cancel(&id.to_string()).await.unwrap();
    assert_eq!(cancelled, Change::Done("cancelled"));
    assert_eq!(bench.settled().await, (1, 0));
    let sku = sku(&bench, 0);
    until("the unit is free here too", || !sku.marks.any_sold_out()).await;
    assert!(matches!(
        buy(&bench.nodes[0].app, 2).await,
        Answer::Queued(_)
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_survivor_brings_a_lost_primary_back() {
    let mut bench = ShopBench::start_nodes(2, 50, 1, Duration::from_millis(100)).await;
    bench.open().await;
    assert_eq!(buy_in_turn(&bench, 0..20).await.len(), 20);

    bench.nodes[0].tasks.shutdown().await;
    let redis = bench.node.take().unwrap();
    bench.node = Some(redis.restart_empty().await);
    let (survivor, before) = (sku(&bench, 1), sku(&bench, 1).epoch());
    until("the other keeper opens the gate", || {
        survivor.epoch() > before && survivor.gate() == Gate::Open
    })
    .await;

    let app = Arc::clone(&bench.nodes[1].app);
    let mut sold = 0;
    for user in 100..200 {
        sold += usize::from(matches!(buy(&app, user).await, Answer::Queued(_)));
    }
    assert_eq!(sold, 30);
    bench.app = app;
    assert_eq!(bench.settled().await, (0, 50));
}

/// A gate is closed while MySQL answers nobody who asks for orders: the node cannot tell what it has under way, and
/// lives all the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_cannot_become_quiet_is_not_taken_for_dead() {
    let bench = ShopBench::start_nodes(1, 5, 1, Duration::from_secs(2)).await;
    bench.open().await;
    let mut holder = mariadb::connect(&bench.mysql_url).await;
    assert_eq!(buy_in_turn(&bench, 0..1).await.len(), 1);
    let lock = "LOCK TABLES orders WRITE";
    sqlx::raw_sql(lock).execute(&mut holder).await.unwrap();
    let store = &bench.app.store;
    store.doubt_sale(SALE).await.unwrap();
    let sku = sku(&bench, 0);
    until("the gate is closed", || sku.gate() == Gate::Paused).await;

    tokio::time::sleep(NODE_TTL * 2).await;
    let in_an_hour = store.now_ms().await.unwrap() + 3_600_000;
    let living = store.gateways_behind(in_an_hour).await.unwrap();
    assert_eq!(living, 1, "gateways alive");
    assert_eq!(sku.gate(), Gate::Paused, "its order may be lost");

    let unlock = "UNLOCK TABLES";
    sqlx::raw_sql(unlock).execute(&mut holder).await.unwrap();
    until("the gate is open again", || sku.gate() == Gate::Open).await;
    assert_eq!(bench.settled().await, (4, 1));
}
