//! The store against a real MariaDB: what is applied, by whom, how often, and what never happens.

use std::collections::HashSet;

use flashsale::sale::order::OrderMessage;
use flashsale::store::{
    Applied, AppliedOutcome, OrderState, SaleState, SkuImage, Store, StoreError, Transition, reason,
};

use crate::support::mariadb;
use crate::support::orders::ONE_EACH;

const SALE: &str = "sale";
const SKU: &str = "sku";

/// A store with one sale and one SKU of `stock` units.
async fn selling(stock: i64) -> Store {
    mariadb::selling(SALE, ONE_EACH, &[(SKU, stock)]).await
}

/// The n-th order; every one of another user.
fn order(n: u32) -> OrderMessage {
    OrderMessage {
        at_ms: 1_000 + u64::from(n),
        ..crate::support::orders::order(SALE, SKU, n)
    }
}

fn orders(numbers: std::ops::Range<u32>) -> Vec<OrderMessage> {
    numbers.map(order).collect()
}

fn count(applied: &[Applied], outcome: AppliedOutcome) -> usize {
    applied.iter().filter(|a| a.outcome == outcome).count()
}

/// The SKU's image, after checking what must hold in every snapshot.
async fn balanced(store: &Store) -> SkuImage {
    let image = store.sku_images(SALE).await.unwrap().remove(0);
    let live: i64 = image
        .orders
        .iter()
        .filter(|order| order.state.is_live())
        .map(|order| i64::from(order.quantity))
        .sum();
    assert!(image.available >= 0, "{image:?}");
    assert_eq!(image.available + live, image.total, "{image:?}");
    image
}

const SHORT: AppliedOutcome = AppliedOutcome::Rejected(reason::STOCK_EXHAUSTED);
const OVER_LIMIT: AppliedOutcome = AppliedOutcome::Rejected(reason::LIMIT_EXCEEDED);

#[tokio::test]
async fn a_batch_is_applied_once_however_often_it_comes() {
    let store = selling(10).await;
    let batch = orders(0..5);
    let first = store.apply(&batch).await.unwrap();
    assert_eq!(count(&first, AppliedOutcome::Created), 5);
    let again = store.apply(&batch).await.unwrap();
    assert_eq!(count(&again, AppliedOutcome::AlreadyApplied), 5);
    let overlapping = store.apply(&orders(3..7)).await.unwrap();
    assert_eq!(count(&overlapping, AppliedOutcome::AlreadyApplied), 2);
    assert_eq!(count(&overlapping, AppliedOutcome::Created), 2);
    assert_eq!(balanced(&store).await.available, 3);
}

#[tokio::test]
async fn the_same_message_twice_in_one_batch_is_one_order() {
    let store = selling(10).await;
    let applied = store.apply(&[order(1), order(1)]).await.unwrap();
    assert_eq!(applied[0].outcome, AppliedOutcome::Created);
    assert_eq!(applied[1].outcome, AppliedOutcome::AlreadyApplied);
    assert_eq!(balanced(&store).await.available, 9);
}

#[tokio::test]
async fn what_does_not_fit_is_rejected_and_released_and_the_rest_is_sold() {
    let store = selling(3).await;
    let mut batch = orders(0..5);
    batch[1].quantity = 3; // Does not fit any more after order 0, but orders 2 and 3 do.
    let applied = store.apply(&batch).await.unwrap();
    let outcomes: Vec<_> = applied.iter().map(|a| a.outcome).collect();
    let created = AppliedOutcome::Created;
    assert_eq!(outcomes, [created, SHORT, created, created, SHORT]);
    assert_eq!(balanced(&store).await.available, 0);
    let rejected = store.order(&batch[1].order_id).await.unwrap().unwrap();
    assert_eq!(rejected.state, OrderState::Rejected);
    assert_eq!(rejected.reason.as_deref(), Some(reason::STOCK_EXHAUSTED));
    let released: HashSet<String> = store
        .pending_releases(10)
        .await
        .unwrap()
        .into_iter()
        .map(|row| row.order_id)
        .collect();
    let expected = [batch[1].order_id.clone(), batch[4].order_id.clone()];
    assert_eq!(released, HashSet::from(expected));
}

#[tokio::test]
async fn a_user_has_one_live_order_of_a_sku() {
    let store = selling(10).await;
    let mut second = order(2);
    second.user = order(1).user;
    let applied = store.apply(&[second.clone(), order(1)]).await.unwrap();
    assert_eq!(applied[0].outcome, OVER_LIMIT, "the later request loses");
    assert_eq!(applied[1].outcome, AppliedOutcome::Created);
    let mut third = order(3);
    third.user = order(1).user;
    assert_eq!(store.apply(&[third]).await.unwrap()[0].outcome, OVER_LIMIT);
    // Cancelling gives the right back.
    store.cancel(&order(1).order_id).await.unwrap();
    let mut fourth = order(4);
    fourth.user = order(1).user;
    let applied = store.apply(&[fourth]).await.unwrap();
    assert_eq!(applied[0].outcome, AppliedOutcome::Created);
    assert_eq!(balanced(&store).await.available, 9);
}

#[tokio::test]
async fn concurrent_batches_of_one_sku_never_oversell() {
    let store = selling(150).await;
    let mut tasks = Vec::new();
    for worker in 0..8_u32 {
        let store = store.clone();
        tasks.push(tokio::spawn(async move {
            let mut outcomes = Vec::new();
            for batch in 0..4 {
                // Each batch overlaps the next worker's: the same message reaches two consumers at once.
                let from = (worker * 4 + batch) * 10;
                outcomes.extend(store.apply(&orders(from..from + 15)).await.unwrap());
            }
            outcomes
        }));
    }
    let mut all = Vec::new();
    for task in tasks {
        all.extend(task.await.unwrap());
    }
    assert_eq!(count(&all, AppliedOutcome::Created), 150);
    let distinct: HashSet<&str> = all.iter().map(|a| a.order_id.as_str()).collect();
    let first_time = all.len() - count(&all, AppliedOutcome::AlreadyApplied);
    assert_eq!(
        first_time,
        distinct.len(),
        "each message had its effect once"
    );
    assert_eq!(balanced(&store).await.available, 0);
    let rejected = store.pending_releases(1_000).await.unwrap().len();
    assert_eq!(rejected, distinct.len() - 150);
}

#[tokio::test]
async fn pay_and_cancel_race_and_one_wins() {
    let store = selling(40).await;
    store.apply(&orders(0..40)).await.unwrap();
    let mut cancelled = 0;
    for n in 0..40 {
        let id = order(n).order_id;
        let (pay, cancel) = tokio::join!(store.pay(&id), store.cancel(&id));
        match (pay.unwrap(), cancel.unwrap()) {
            (Transition::Done(OrderState::Paid), Transition::Lost(OrderState::Paid)) => {}
            (Transition::Lost(OrderState::Cancelled), Transition::Done(OrderState::Cancelled)) => {
                cancelled += 1;
            }
            other => panic!("both or neither won: {other:?}"),
        }
    }
    assert_eq!(balanced(&store).await.available, cancelled);
    let releases = store.pending_releases(100).await.unwrap();
    assert_eq!(i64::try_from(releases.len()).unwrap(), cancelled);
}

#[tokio::test]
async fn cancelling_twice_gives_the_stock_back_once() {
    let store = selling(1).await;
    store.apply(&orders(0..1)).await.unwrap();
    let id = order(0).order_id;
    let (one, two) = tokio::join!(store.cancel(&id), store.cancel(&id));
    let won = [one.unwrap(), two.unwrap()];
    assert!(won.contains(&Transition::Done(OrderState::Cancelled)));
    assert!(won.contains(&Transition::Lost(OrderState::Cancelled)));
    assert_eq!(balanced(&store).await.available, 1);
    assert_eq!(store.cancel("nobody").await.unwrap(), Transition::NotFound);
    assert_eq!(store.pay("nobody").await.unwrap(), Transition::NotFound);
}

#[tokio::test]
async fn an_order_cancelled_before_its_message_stays_cancelled() {
    let store = selling(5).await;
    let done = store.cancel_unapplied(&order(1)).await.unwrap();
    assert_eq!(done, Transition::Done(OrderState::Cancelled));
    let applied = store.apply(&[order(1), order(2)]).await.unwrap();
    assert_eq!(applied[0].outcome, AppliedOutcome::IdTaken);
    assert_eq!(applied[1].outcome, AppliedOutcome::Created);
    let again = store.apply(&[order(1)]).await.unwrap();
    assert_eq!(again[0].outcome, AppliedOutcome::AlreadyApplied);
    assert_eq!(balanced(&store).await.available, 4);
    // The message came first: the same call cancels the applied order.
    let late = store.cancel_unapplied(&order(2)).await.unwrap();
    assert_eq!(late, Transition::Done(OrderState::Cancelled));
    assert_eq!(balanced(&store).await.available, 5);
    assert_eq!(store.pending_releases(10).await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_message_and_its_cancellation_at_once_sell_nothing() {
    let store = selling(30).await;
    for n in 0..30 {
        let message = order(n);
        let batch = [message.clone()];
        let (applied, cancelled) =
            tokio::join!(store.apply(&batch), store.cancel_unapplied(&message));
        applied.unwrap();
        let cancelled = cancelled.unwrap();
        assert_eq!(cancelled, Transition::Done(OrderState::Cancelled));
    }
    assert_eq!(balanced(&store).await.available, 30);
    assert_eq!(store.pending_releases(100).await.unwrap().len(), 30);
}

#[tokio::test]
async fn tombstones_take_ids_that_are_free() {
    let store = selling(5).await;
    store.apply(&[order(1)]).await.unwrap();
    let rejected = store
        .reject(&orders(0..3), reason::NEVER_RESERVED)
        .await
        .unwrap();
    assert_eq!(rejected, [order(0).order_id, order(2).order_id]);
    let applied = store.apply(&orders(0..3)).await.unwrap();
    let outcomes: Vec<_> = applied.iter().map(|a| a.outcome).collect();
    let taken = AppliedOutcome::IdTaken;
    assert_eq!(outcomes, [taken, AppliedOutcome::AlreadyApplied, taken]);
    assert_eq!(balanced(&store).await.available, 4);
    let ids: Vec<String> = orders(0..9).into_iter().map(|m| m.order_id).collect();
    assert_eq!(store.existing(&ids).await.unwrap().len(), 3);
}

#[tokio::test]
async fn releases_stay_pending_until_marked() {
    let store = selling(5).await;
    store
        .reject(&orders(0..3), reason::NEVER_RESERVED)
        .await
        .unwrap();
    let pending = store.pending_releases(2).await.unwrap();
    assert_eq!(pending.len(), 2);
    let done: Vec<String> = pending.into_iter().map(|row| row.order_id).collect();
    store.mark_released(&done).await.unwrap();
    assert_eq!(store.pending_releases(9).await.unwrap().len(), 1);
}

#[tokio::test]
async fn stock_is_not_changed_while_the_sale_is_open_nor_below_what_is_sold() {
    let store = selling(5).await;
    store.apply(&orders(0..3)).await.unwrap();
    store.set_sale_state(SALE, SaleState::Open).await.unwrap();
    let open = store.put_sku(SALE, SKU, 9).await.unwrap_err();
    assert!(matches!(open, StoreError::SaleOpen { .. }), "{open}");
    store.set_sale_state(SALE, SaleState::Closed).await.unwrap();
    let below = store.put_sku(SALE, SKU, 2).await.unwrap_err();
    assert!(
        matches!(below, StoreError::BelowSold { sold: 3, .. }),
        "{below}"
    );
    store.put_sku(SALE, SKU, 4).await.unwrap();
    assert_eq!(balanced(&store).await.available, 1);
    let missing = store.put_sku("other", SKU, 2).await.unwrap_err();
    assert!(
        matches!(missing, StoreError::NoSuchSale { .. }),
        "{missing}"
    );
    let row = store.sale(SALE).await.unwrap().unwrap();
    assert_eq!(row.state, SaleState::Closed);
    assert!(
        store
            .set_sale_state("other", SaleState::Open)
            .await
            .is_err()
    );
}

#[tokio::test]
async fn snapshots_balance_while_batches_commit() {
    let store = selling(300).await;
    let writer = store.clone();
    let writing = tokio::spawn(async move {
        for n in 0..60 {
            writer.apply(&orders(n * 5..n * 5 + 5)).await.unwrap();
            writer.cancel(&order(n * 5).order_id).await.unwrap();
        }
    });
    while !writing.is_finished() {
        balanced(&store).await;
    }
    writing.await.unwrap();
    assert_eq!(balanced(&store).await.available, 60);
}

#[tokio::test]
async fn a_lock_held_by_somebody_else_is_waited_out_or_reported() {
    let url = mariadb::database().await;
    let store = mariadb::selling_at(&url, SALE, ONE_EACH, &[(SKU, 5)]).await;
    let mut holder = mariadb::connect(&url).await;
    let table = mariadb::TABLES.shards.table(SALE, SKU);
    let lock = format!("START TRANSACTION; SELECT * FROM {table} FOR UPDATE");
    sqlx::raw_sql(&lock).execute(&mut holder).await.unwrap();
    let waiting = tokio::spawn({
        let store = store.clone();
        async move { store.apply(&[order(1)]).await }
    });
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert!(!waiting.is_finished(), "the stock row is locked");
    sqlx::raw_sql("ROLLBACK")
        .execute(&mut holder)
        .await
        .unwrap();
    let applied = waiting.await.unwrap().unwrap();
    assert_eq!(applied[0].outcome, AppliedOutcome::Created);
    assert_eq!(balanced(&store).await.available, 4);
}

#[tokio::test]
async fn a_connection_killed_by_the_server_is_replaced() {
    let url = mariadb::database().await;
    let store = mariadb::selling_at(&url, SALE, ONE_EACH, &[(SKU, 100)]).await;
    let mut killer = mariadb::connect(&url).await;
    for n in 0..20 {
        let batch = orders(n * 5..n * 5 + 5);
        let kill = async {
            let own: u64 = sqlx::query_scalar("SELECT CONNECTION_ID()")
                .fetch_one(&mut killer)
                .await
                .unwrap();
            let database = url.rsplit('/').next().unwrap();
            let others: Vec<i64> = sqlx::query_scalar(
                "SELECT ID FROM information_schema.PROCESSLIST WHERE DB = ? AND ID <> ?",
            )
            .bind(database)
            .bind(own)
            .fetch_all(&mut killer)
            .await
            .unwrap();
            for id in others {
                let _ = sqlx::raw_sql(&format!("KILL {id}"))
                    .execute(&mut killer)
                    .await;
            }
        };
        let (applied, ()) = tokio::join!(store.apply(&batch), kill);
        assert_eq!(count(&applied.unwrap(), AppliedOutcome::Created), 5);
    }
    assert_eq!(balanced(&store).await.available, 0);
}

#[tokio::test]
async fn a_server_that_prepares_no_more_statements_is_busy_and_not_out_of_order() {
    let server = mariadb::Server::start().await;
    let url = server.database().await;
    let store = mariadb::selling_at(&url, SALE, ONE_EACH, &[(SKU, 5)]).await;
    let mut root = mariadb::connect(&server.root()).await;
    let mut allow = async |count: u32| {
        let sql = format!("SET GLOBAL max_prepared_stmt_count = {count}");
        sqlx::raw_sql(&sql).execute(&mut root).await.unwrap();
    };
    allow(0).await;
    let error = store.apply(&orders(0..2)).await.unwrap_err();
    assert!(error.is_transient(), "its orders would be parked: {error}");
    allow(16_382).await;
    store.apply(&orders(0..2)).await.unwrap();
    assert_eq!(balanced(&store).await.available, 3);
}

/// Everything that asks for orders waits, as in a rush on a busy machine: gates close and nodes live all the same.
#[tokio::test]
async fn what_nodes_tell_each_other_never_waits_behind_orders() {
    let url = mariadb::database().await;
    let store = mariadb::selling_at(&url, SALE, ONE_EACH, &[(SKU, 5)]).await;
    store.doubt_sale(SALE).await.unwrap();
    let row = store.gates().await.unwrap().rows.remove(0);
    assert!(store.ready(&row, row.epoch, "node", "run").await.unwrap());
    let mut holder = mariadb::connect(&url).await;
    let lock = "LOCK TABLES orders WRITE";
    sqlx::raw_sql(lock).execute(&mut holder).await.unwrap();
    let mut asking = tokio::task::JoinSet::new();
    for n in 0..100 {
        let store = store.clone();
        asking.spawn(async move { store.existing(&[order(n).order_id]).await });
    }
    let refused = asking.join_next().await.unwrap().unwrap();
    refused.expect_err("there are enough connections for all of them");

    let gates = store.gates().await.unwrap();
    store.beat("node", true, gates.read_at_ms).await.unwrap();
    assert!(store.lead("node").await.unwrap());
    assert!(store.doubt(&gates.rows[0]).await.unwrap());
    assert_eq!(store.gateways_not_quiet(SALE, SKU, 1).await.unwrap(), 1);
}
