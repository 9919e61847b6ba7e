//! The outbox path: orders and their announcements in one transaction, announcements claimed and settled, and nothing
//! that Redis reserved left behind.

use std::sync::Arc;
use std::time::Duration;

use flashsale::gateway::reason::Reason;
use flashsale::queue::{QueuePath, bundle};
use flashsale::sale::buy::Answer;
use flashsale::sale::order::{OrderId, OrderMessage, Reserved};
use flashsale::sale::sku::Rules;
use flashsale::store::{
    AppliedOutcome, Entry, Letter, LetterKind, OrderState, Store, StoreError, TRIES_MAX,
};

use crate::support::mariadb;
use crate::support::orders::ONE_EACH;
use crate::support::shop::{SALE, SKU, ShopBench};

const RULES: Rules = Rules {
    queue: QueuePath::Outbox,
    ..ONE_EACH
};

async fn selling(stock: i64) -> Store {
    mariadb::selling(SALE, RULES, &[(SKU, stock)]).await
}

fn order(n: u32) -> OrderMessage {
    let (user, request_id) = (format!("user-{n}"), format!("request-{n}"));
    OrderMessage {
        order_id: OrderId::derive(SALE, SKU, &user, &request_id).to_string(),
        sale: SALE.to_owned(),
        sku: SKU.to_owned(),
        user,
        quantity: 1,
        request_id,
        at_ms: u64::from(n),
    }
}

async fn write(store: &Store, orders: &[OrderMessage]) -> Vec<AppliedOutcome> {
    let written = store.enter(orders, Entry::Written).await.unwrap();
    written.into_iter().map(|one| one.outcome).collect()
}

/// How many orders the announcements carry that have not been sent.
async fn announced(store: &Store) -> usize {
    let claim = store.claim_announcements(1_000).await.unwrap();
    let bodies = claim.announcements.iter().map(|one| one.body.as_bytes());
    bodies.map(|body| bundle::read(body).unwrap().len()).sum()
}

#[tokio::test]
async fn only_an_order_that_is_created_is_announced_and_only_once() {
    use AppliedOutcome::{Created, IdTaken, Rejected};
    let store = selling(2).await;
    let orders: Vec<_> = (0..3).map(order).collect();
    let outcomes = write(&store, &orders).await;
    assert_eq!(outcomes, [Created, Created, Rejected("stock_exhausted")]);
    let unsent = async || (store.unsent().await.unwrap(), announced(&store).await);
    assert_eq!(unsent().await, (1, 2), "one transaction, one announcement");
    assert_eq!(store.pending_releases(9).await.unwrap().len(), 1);

    assert_eq!(write(&store, &orders).await, [IdTaken; 3]);
    assert_eq!(unsent().await, (1, 2));
    // What the relay has sent comes back as a message: received once, and nothing else changes.
    let delivered = store.apply(&orders[..1]).await.unwrap();
    assert_eq!(delivered[0].outcome, IdTaken);
    let again = store.apply(&orders[..1]).await.unwrap();
    assert_eq!(again[0].outcome, AppliedOutcome::AlreadyApplied);
    assert_eq!(store.sku_images(SALE).await.unwrap()[0].available, 0);
}

#[tokio::test]
async fn an_announcement_is_in_one_hand_until_it_is_sent_put_off_or_dead() {
    let store = selling(10).await;
    for n in 0..4 {
        write(&store, &[order(n)]).await;
    }
    let first = store.claim_announcements(3).await.unwrap();
    let second = store.claim_announcements(3).await.unwrap();
    assert!(store.has_announcements().await.unwrap());
    let held = |claim: &flashsale::store::Claim| claim.announcements.len();
    assert_eq!((held(&first), held(&second)), (3, 1));
    drop(second); // A relay that dies gives back what it held.
    let kept = first.announcements[0].id;
    assert_eq!(
        first.settle(|one| one.id != kept, "refused").await.unwrap(),
        0
    );
    assert_eq!(store.unsent().await.unwrap(), 2);

    let now = store.claim_announcements(9).await.unwrap();
    assert_eq!(held(&now), 1, "the other one is due later");
    now.settle(|_| true, "").await.unwrap();
    for tries in 1..TRIES_MAX {
        let claim = loop {
            let claim = store.claim_announcements(9).await.unwrap();
            if held(&claim) == 1 {
                break claim;
            }
            drop(claim);
            tokio::time::sleep(Duration::from_millis(50)).await;
        };
        assert_eq!(
            (claim.announcements[0].id, claim.announcements[0].tries),
            (kept, tries)
        );
        let parked = claim.settle(|_| false, "refused").await.unwrap();
        assert_eq!(parked, usize::from(tries + 1 == TRIES_MAX));
    }
    let counts = (
        store.unsent().await.unwrap(),
        store.dead_letters_count().await.unwrap(),
    );
    assert_eq!(counts, (0, 1));
    assert!(!store.has_announcements().await.unwrap());
}

#[tokio::test]
async fn a_sale_keeps_its_queue_from_the_first_warm_up_on() {
    let store = selling(1).await;
    let other = Rules {
        queue: QueuePath::RocketMq,
        ..RULES
    };
    store.put_sale(SALE, other).await.unwrap();
    store.put_sale(SALE, RULES).await.unwrap();
    store.doubt_sale(SALE).await.unwrap();
    let refused = store.put_sale(SALE, other).await.unwrap_err();
    assert!(
        matches!(refused, StoreError::QueueFixed { .. }),
        "{refused}"
    );
    store
        .put_sale(
            SALE,
            Rules {
                limit_per_user: 2,
                ..RULES
            },
        )
        .await
        .unwrap();
    assert_eq!(
        store
            .sale(SALE)
            .await
            .unwrap()
            .unwrap()
            .rules
            .limit_per_user,
        2
    );
}

async fn bench(nodes: usize, stock: i64) -> ShopBench {
    let bench = ShopBench::start_on(QueuePath::Outbox, nodes, stock, 1, Duration::ZERO).await;
    bench.open().await;
    bench
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_told_queued_has_an_order_by_then() {
    let bench = bench(1, 50).await;
    let answers = bench.buy_all(0..200).await;
    let queued = answers
        .iter()
        .filter(|answer| matches!(answer, Answer::Queued(_)));
    assert_eq!(queued.count(), 50);
    let sold_out = Answer::Refused(Reason::SoldOut);
    assert_eq!(
        answers.iter().filter(|answer| **answer == sold_out).count(),
        150
    );
    let image = bench.app.store.sku_images(SALE).await.unwrap().remove(0);
    assert_eq!(
        (image.available, image.orders.len()),
        (0, 50),
        "without waiting"
    );
    assert_eq!(announced(&bench.app.store).await, 50);
    assert_eq!(bench.settled().await, (0, 50));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_mysql_refuses_is_not_called_sold_and_is_repaired() {
    let bench = bench(1, 10).await;
    let sku = bench.app.shop.catalogue.find(SALE, SKU).unwrap();
    let mut redis = bench.node.as_ref().unwrap().connect().await;
    let surplus = redis::AsyncCommands::hincr(&mut redis, &sku.keys.stock, "available", 5_i64);
    let _: i64 = surplus.await.unwrap();
    let answers = bench.buy_all(0..100).await;
    let queued = answers
        .iter()
        .filter(|answer| matches!(answer, Answer::Queued(_)));
    assert_eq!(queued.count(), 10, "{answers:?}");
    assert_eq!(bench.settled().await, (0, 10));
}

/// Reserves and writes nothing: what a gateway leaves that dies between reservation and transaction.
async fn reserve(bench: &ShopBench, order: OrderMessage) -> OrderMessage {
    let sku = bench.app.shop.catalogue.find(SALE, SKU).unwrap();
    let reserved = bench.app.stock.reserve(&sku, Arc::new(order.clone()));
    assert!(matches!(reserved.await, Reserved::Granted { .. }));
    order
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reservation_that_nobody_writes_is_adopted_from_the_ledger() {
    let bench = bench(2, 10).await;
    let orphan = reserve(&bench, order(7)).await;
    assert_eq!(bench.app.store.order(&orphan.order_id).await.unwrap(), None);
    while bench
        .app
        .store
        .order(&orphan.order_id)
        .await
        .unwrap()
        .is_none()
    {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(bench.settled().await, (9, 1));
    assert_eq!(announced(&bench.app.store).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rebuild_adopts_what_only_the_ledger_knows() {
    let bench = bench(1, 10).await;
    let sku = bench.app.shop.catalogue.find(SALE, SKU).unwrap();
    let orphan = reserve(&bench, order(7)).await;
    sku.suspect();
    let before = sku.epoch();
    while sku.epoch() == before {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(
        bench
            .app
            .store
            .order(&orphan.order_id)
            .await
            .unwrap()
            .is_some()
    );
    assert_eq!(bench.settled().await, (9, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_letter_is_replayed_or_given_up_with_its_units() {
    let bench = bench(1, 10).await;
    let (store, letters) = (&bench.app.store, &bench.app.letters);
    let sku = bench.app.shop.catalogue.find(SALE, SKU).unwrap();
    let mut parked = Vec::new();
    for n in 0..3 {
        // Promised and never stored, as far as MySQL knows.
        let promised = order(n);
        let letter = Letter {
            kind: LetterKind::Order,
            order_id: &promised.order_id,
            body: &promised.body(),
            reason: "Data too long",
            tries: 1,
        };
        store.park(letter).await.unwrap();
        store.park(letter).await.unwrap(); // Delivered twice.
        parked.push(promised);
    }
    let list = store.dead_letters().await.unwrap();
    assert_eq!(
        list.iter().map(|one| one.tries).collect::<Vec<_>>(),
        [2, 2, 2]
    );
    reserve(&bench, parked[1].clone()).await;

    letters.replay(list[0].id).await.unwrap();
    letters.discard(list[1].id).await.unwrap();
    assert!(letters.replay(list[1].id).await.is_err(), "it is gone");
    let state = async |id: &str| store.order(id).await.unwrap().unwrap().state;
    assert_eq!(state(&parked[0].order_id).await, OrderState::Created);
    assert_eq!(state(&parked[1].order_id).await, OrderState::Rejected);
    let unit_is_back = async || {
        let entry = bench.app.stock.look_up(&sku, &parked[1].order_id).await;
        !entry.unwrap().unwrap().is_reserved()
    };
    while !unit_is_back().await {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let left = store.dead_letters().await.unwrap();
    assert_eq!(
        left.iter().map(|one| one.id).collect::<Vec<_>>(),
        [list[2].id]
    );
    // What the relay gave up goes back into the outbox.
    let announcement = Letter {
        kind: LetterKind::Announcement,
        order_id: &parked[0].order_id,
        body: &parked[0].body(),
        reason: "refused",
        tries: 5,
    };
    store.park(announcement).await.unwrap();
    let before = store.unsent().await.unwrap();
    let id = store.dead_letters().await.unwrap().last().unwrap().id;
    letters.replay(id).await.unwrap();
    assert_eq!(store.unsent().await.unwrap(), before + 1);
}
