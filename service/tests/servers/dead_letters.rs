//! Orders that MySQL refuses for something about them: parked alone, replayed, given up.

use std::time::{Duration, Instant};

use flashsale::queue::QueuePath;
use flashsale::sale::buy::Answer;
use flashsale::sale::order::OrderId;
use flashsale::sale::sku::Rules;
use flashsale::store::{OrderState, reason};
use sqlx::Executor;

use crate::support::mariadb;
use crate::support::orders::ONE_EACH;
use crate::support::shop::{SALE, SKU, ShopBench, queued};

const RULES: Rules = Rules {
    queue: QueuePath::Outbox,
    ..ONE_EACH
};

/// Ten units on sale by the outbox.
async fn bench(flags: &[&str]) -> ShopBench {
    let bench = ShopBench::start_with(flags, 1, 10, RULES, Duration::ZERO).await;
    bench.open().await;
    bench
}

/// From now on MySQL refuses the orders of these users and of no others.
async fn poison(bench: &ShopBench, users: &str) {
    let mut connection = mariadb::connect(&bench.mysql_url).await;
    let refuse = format!(
        "CREATE OR REPLACE TRIGGER poison BEFORE INSERT ON orders FOR EACH ROW
         IF NEW.live_key = 1 AND NEW.user IN ({users}) THEN SIGNAL SQLSTATE '45000'; END IF"
    );
    connection.execute(sqlx::raw_sql(&refuse)).await.unwrap();
}

async fn state(bench: &ShopBench, n: usize) -> Option<(OrderState, Option<String>)> {
    let id = OrderId::derive(SALE, SKU, &format!("u{n}"), &format!("r{n}")).to_string();
    let row = bench.app.store.order(&id).await.unwrap()?;
    Some((row.state, row.reason))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_mysql_refuses_is_parked_once_and_nobody_else_notices() {
    let bench = bench(&[]).await;
    poison(&bench, "'u1'").await;
    let begun = Instant::now();
    assert!(matches!(bench.buy(1).await, Answer::Queued(_)));
    assert!(
        begun.elapsed() < Duration::from_secs(2),
        "it is not waited for"
    );
    assert_eq!(queued(&bench.buy_all(2..6).await), 4);
    assert_eq!(state(&bench, 5).await, Some((OrderState::Created, None)));
    // By then what nobody has written would be adopted from the ledger.
    tokio::time::sleep(Duration::from_secs(7)).await;
    let letters = bench.app.store.dead_letters().await.unwrap();
    assert_eq!(letters.iter().map(|one| one.tries).collect::<Vec<_>>(), [1]);
    assert_eq!(state(&bench, 1).await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_schedule_brings_what_mysql_takes_again_and_gives_up_what_it_goes_on_refusing() {
    let bench = bench(&["--dead-letter-retry-s=1", "--dead-letter-tries-max=5"]).await;
    poison(&bench, "'u1', 'u2'").await;
    assert_eq!(queued(&bench.buy_all(1..4).await), 3);
    poison(&bench, "'u1'").await;
    let given_up = (OrderState::Rejected, Some(reason::DISCARDED.to_owned()));
    while state(&bench, 1).await != Some(given_up.clone()) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(state(&bench, 2).await, Some((OrderState::Created, None)));
    assert_eq!(bench.settled().await, (8, 2));
    while bench.app.store.dead_letters_count().await.unwrap() > 0 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
