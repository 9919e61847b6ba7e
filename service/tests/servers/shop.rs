//! The service from request to order: what buyers are told, and what both stores hold afterwards.

use std::sync::Arc;
use std::time::Duration;

use flashsale::gateway::reason::Reason;
use flashsale::gateway::server;
use flashsale::sale::buy::Answer;
use flashsale::sale::desk::Change;
use redis::AsyncCommands;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::shop::{SALE, SKU, ShopBench, queued};

const AT_ONCE: Duration = Duration::ZERO;

fn refused(answers: &[Answer], reason: Reason) -> usize {
    answers
        .iter()
        .filter(|answer| **answer == Answer::Refused(reason))
        .count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_sells_exactly_its_stock_and_then_answers_without_redis() {
    let mut bench = ShopBench::start(30, 1, AT_ONCE).await;
    assert!(
        bench.app.sales.open(SALE).await.is_err(),
        "nothing is warm yet"
    );
    bench.app.sales.warm_up(SALE).await.unwrap();
    assert_eq!(bench.buy(0).await, Answer::Refused(Reason::NotStarted));
    bench.open().await;

    let first = bench.buy(0).await;
    let Answer::Queued(id) = first else {
        panic!("{first:?}")
    };
    let answers = bench.buy_all(1..200).await;
    assert_eq!(
        (queued(&answers), refused(&answers, Reason::SoldOut)),
        (29, 170)
    );
    assert_eq!(bench.settled().await, (0, 30));

    drop(bench.node.take());
    assert_eq!(bench.buy(500).await, Answer::Refused(Reason::SoldOut));
    assert_eq!(bench.buy(0).await, Answer::Same(id));
    bench.app.sales.close(SALE).await.unwrap();
    assert_eq!(bench.buy(501).await, Answer::Refused(Reason::Ended));
}

#[tokio::test(flavor = "multi_thread")]
async fn more_buyers_than_seats_are_told_that_it_is_busy() {
    let bench = ShopBench::start(10_000, 1, AT_ONCE).await;
    bench.open().await;
    let answers = bench.buy_all(0..2_000).await;
    assert_eq!(queued(&answers) + refused(&answers, Reason::Busy), 2_000);
    let (available, live) = bench.settled().await;
    assert_eq!((available + live, live), (10_000, queued(&answers) as i64));
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_gives_unit_and_right_back_also_before_the_order_is_applied() {
    let bench = ShopBench::start(1, 1, Duration::from_millis(300)).await;
    bench.open().await;
    let Answer::Queued(id) = bench.buy(1).await else {
        panic!("user 1 may buy")
    };
    assert_eq!(bench.buy(2).await, Answer::Refused(Reason::SoldOut));
    let id = id.to_string();
    assert_eq!(
        bench.app.desk.status(&id).await.unwrap().unwrap().state,
        "queued"
    );
    assert_eq!(
        bench.app.desk.pay(&id).await.unwrap(),
        Change::Lost("queued")
    );
    assert_eq!(
        bench.app.desk.cancel(&id).await.unwrap(),
        Change::Done("cancelled")
    );
    assert_eq!(bench.settled().await, (1, 0));
    assert_eq!(
        bench.app.desk.pay(&id).await.unwrap(),
        Change::Lost("cancelled")
    );
    // The same request stays the same order; a new one of another user gets the unit.
    assert!(matches!(bench.buy(1).await, Answer::Same(_)));
    let Answer::Queued(other) = bench.buy(3).await else {
        panic!("the unit is free")
    };
    bench.settled().await;
    assert_eq!(
        bench.app.desk.cancel(&other.to_string()).await.unwrap(),
        Change::Done("cancelled")
    );
    bench.settled().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_primary_that_lost_everything_is_rebuilt_before_it_sells_again() {
    let mut bench = ShopBench::start(50, 1, Duration::from_millis(100)).await;
    bench.open().await;
    assert_eq!(queued(&bench.buy_all(0..20).await), 20);
    bench.lose_redis().await;
    assert_eq!(bench.settled().await, (30, 20));
    assert_eq!(
        bench.buy_all(0..20).await.len(),
        20,
        "the same requests again"
    );
    assert_eq!(bench.settled().await, (30, 20));
    let answers = bench.buy_all(100..200).await;
    assert_eq!(
        (queued(&answers), refused(&answers, Reason::SoldOut)),
        (30, 70)
    );
    assert_eq!(bench.settled().await, (0, 50));
}

#[tokio::test(flavor = "multi_thread")]
async fn stock_that_only_redis_has_breaks_promises_and_is_repaired() {
    let bench = ShopBench::start(10, 1, AT_ONCE).await;
    bench.open().await;
    let sku = bench.app.shop.catalogue.find(SALE, SKU).unwrap();
    let mut redis = bench.node.as_ref().unwrap().connect().await;
    let _: i64 = redis.hincr(&sku.keys.stock, "available", 5).await.unwrap();
    let answers = bench.buy_all(0..100).await;
    assert!(queued(&answers) > 10, "{answers:?}");
    assert_eq!(bench.settled().await, (0, 10));
    let orders = bench
        .app
        .store
        .sku_images(SALE)
        .await
        .unwrap()
        .remove(0)
        .orders;
    assert_eq!(
        orders.len(),
        queued(&answers),
        "every promise ends in a row, kept or not"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn pipelined_requests_get_their_answers_in_order() {
    let bench = ShopBench::start(1, 1, AT_ONCE).await;
    bench.open().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let app = Arc::clone(&bench.app);
    let serving = tokio::spawn(server::serve(listener, app, std::future::pending()));

    let request = |user: &str| {
        let body = format!(
            r#"{{"sale":"{SALE}","sku":"{SKU}","user":"{user}","quantity":1,"request_id":"r"}}"#
        );
        format!(
            "POST /v1/orders HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let last = "GET /ops/v1/sales HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let requests = [
        request("u1"),
        request("u2"),
        request("u1"),
        request("u 3"),
        last.to_owned(),
    ];
    stream
        .write_all(requests.concat().as_bytes())
        .await
        .unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).await.unwrap();
    let statuses: Vec<_> = answers
        .match_indices("HTTP/1.1 ")
        .map(|(at, _)| &answers[at + 9..at + 12])
        .collect();
    assert_eq!(statuses, ["202", "409", "200", "400", "404"], "{answers}");
    assert!(answers.contains(r#""reason":"sold_out""#));
    assert!(answers.contains("application/problem+json"));
    serving.abort();
}
