//! What the applying step does with what MySQL cannot take: poison is parked alone, stale messages give their units back.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flashsale::queue::applier::{Applier, Unreadable};
use flashsale::sale::clock;
use flashsale::sale::order::OrderMessage;
use flashsale::sale::sku::Rules;
use flashsale::store::{Applied, Entry, LetterKind, OrderState, Store, StoreError};
use tokio::sync::watch;

use crate::support::{mariadb, orders};

const SALE: &str = "sale";
const AGE_MAX: Duration = Duration::from_secs(60);

async fn store() -> Store {
    mariadb::selling(SALE, Rules::default(), &[("a", 100), ("b", 100)]).await
}

fn order(n: u32, sku: &str, age: Duration) -> OrderMessage {
    OrderMessage {
        at_ms: clock::now_ms() - age.as_millis() as u64,
        ..orders::order(SALE, sku, n)
    }
}

type Heard = Arc<Mutex<Vec<String>>>;

fn applier(
    store: &Store,
    entry: Entry,
) -> (Applier<impl Fn(&[Applied]) + Send + Sync + use<>>, Heard) {
    let heard = Heard::default();
    let told = Arc::clone(&heard);
    let on_applied = move |applied: &[Applied]| {
        let ids = applied.iter().map(|one| one.order_id.clone());
        told.lock().unwrap().extend(ids);
    };
    let applier = Applier {
        store: store.clone(),
        entry,
        batch_max: 100,
        age_max: AGE_MAX,
        on_applied: Arc::new(on_applied),
        is_stuck: Arc::default(),
        stopped: watch::channel(false).1,
    };
    (applier, heard)
}

#[tokio::test]
async fn poison_is_parked_alone_and_its_batch_goes_on() {
    let store = store().await;
    let (applier, heard) = applier(&store, Entry::Delivered);
    let mut orders: Vec<_> = (0..30).map(|n| order(n, "a", Duration::ZERO)).collect();
    orders[7].user = "u".repeat(200); // More than the column takes.
    orders[29].request_id = "r".repeat(129); // By one.
    let refused = store.enter(&orders, Entry::Delivered).await.unwrap_err();
    let StoreError::Unstorable(mut named) = refused else {
        panic!("{refused}");
    };
    named.sort_by_key(|one| one.order_id != orders[7].order_id);
    let named: Vec<_> = named.iter().map(|one| &one.order_id).collect();
    assert_eq!(named, [7, 29].map(|n: usize| &orders[n].order_id));

    assert!(applier.apply(orders.clone()).await);
    assert_eq!(heard.lock().unwrap().len(), 28);
    let image = store.sku_images(SALE).await.unwrap().remove(0);
    assert_eq!((image.available, image.orders.len()), (72, 28));
    let letters = store.dead_letters().await.unwrap();
    let parked: Vec<_> = letters
        .iter()
        .map(|one| (one.kind, &one.order_id))
        .collect();
    assert_eq!(
        parked,
        [7, 29].map(|n: usize| (LetterKind::Order, &orders[n].order_id))
    );
    for (letter, column) in letters.iter().zip(["user", "request_id"]) {
        assert!(letter.reason.contains(column), "{}", letter.reason);
    }
    let is_stuck = applier.is_stuck.load(Ordering::Relaxed);
    assert!(
        !is_stuck,
        "the last one was poison, and the next is welcome"
    );
}

#[tokio::test]
async fn whatever_a_name_is_made_of_it_is_stored_as_it_is() {
    let store = store().await;
    let longest = "\u{1f600}".repeat(128);
    let names = [
        "O'Hara",
        "a\"b\\c\\u0041",
        "[\"x\",1]",
        "\u{e4}\n\t%_ ",
        &longest,
    ];
    let mut orders: Vec<_> = (0..5).map(|n| order(n, "a", Duration::ZERO)).collect();
    for (order, name) in orders.iter_mut().zip(names) {
        order.user = name.to_owned();
        order.request_id = name.to_owned();
    }
    for batch in [&orders[..1], &orders[1..]] {
        store.enter(batch, Entry::Written).await.unwrap();
    }
    for (order, name) in orders.iter().zip(names) {
        let row = store.order(&order.order_id).await.unwrap().unwrap();
        assert_eq!((row.user.as_str(), row.request_id.as_str()), (name, name));
    }
}

/// The stock refuses the sum of a batch, and no row of an order says whose it is.
#[tokio::test]
async fn what_no_row_explains_is_found_by_halves() {
    let url = mariadb::database().await;
    let store = mariadb::selling_at(&url, SALE, Rules::default(), &[("a", 100)]).await;
    let table = mariadb::TABLES.shards.table(SALE, "a");
    let refuse = format!(
        "CREATE TRIGGER greedy BEFORE UPDATE ON {table} FOR EACH ROW
         IF OLD.available - NEW.available >= 9 THEN SIGNAL SQLSTATE '45000'; END IF"
    );
    let mut root = mariadb::connect(&url).await;
    sqlx::raw_sql(&refuse).execute(&mut root).await.unwrap();
    let mut orders: Vec<_> = (0..4).map(|n| order(n, "a", Duration::ZERO)).collect();
    orders[3].quantity = 9;
    let (applier, heard) = applier(&store, Entry::Delivered);
    assert!(applier.apply(orders.clone()).await);
    assert_eq!(heard.lock().unwrap().len(), 3);
    let letters = store.dead_letters().await.unwrap();
    let parked: Vec<_> = letters.iter().map(|one| &one.order_id).collect();
    assert_eq!(parked, [&orders[3].order_id]);
}

#[tokio::test]
async fn a_message_past_its_age_is_rejected_with_its_release_and_a_written_order_is_not() {
    let store = store().await;
    let late = order(1, "a", 2 * AGE_MAX);
    let (delivering, heard) = applier(&store, Entry::Delivered);
    assert!(
        delivering
            .apply(vec![late.clone(), order(2, "a", AGE_MAX / 2)])
            .await
    );
    assert_eq!(*heard.lock().unwrap(), [order(2, "a", AGE_MAX).order_id]);
    let row = store.order(&late.order_id).await.unwrap().unwrap();
    assert_eq!(
        (row.state, row.reason.as_deref()),
        (OrderState::Rejected, Some("stale"))
    );
    assert_eq!(store.pending_releases(9).await.unwrap().len(), 1);

    let (writing, _) = applier(&store, Entry::Written);
    let adopted = order(3, "b", 2 * AGE_MAX);
    assert!(writing.apply(vec![adopted.clone()]).await);
    let row = store.order(&adopted.order_id).await.unwrap().unwrap();
    assert_eq!(row.state, OrderState::Created);
}

#[tokio::test]
async fn what_is_no_order_is_parked_once_however_often_it_comes() {
    let store = store().await;
    let (applier, _) = applier(&store, Entry::Delivered);
    let unreadable = |body: &str| Unreadable {
        body: body.to_owned(),
        reason: "expected value".to_owned(),
    };
    for _delivery in 0..3 {
        assert!(
            applier
                .park_unreadable(&[unreadable("{"), unreadable("[")])
                .await
        );
    }
    let letters = store.dead_letters().await.unwrap();
    let seen: Vec<_> = letters
        .iter()
        .map(|one| (one.body.as_str(), one.tries))
        .collect();
    assert_eq!(seen, [("{", 3), ("[", 3)]);
}
