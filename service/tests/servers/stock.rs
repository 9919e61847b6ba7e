//! The stock's tables against a real MariaDB: each SKU is in its own, and no strategy sells a unit twice.

use std::path::Path;

use clap::ValueEnum;
use flashsale::sale::order::OrderMessage;
use flashsale::store::{
    AppliedOutcome, Shards, StockStrategy, StockTables, Store, StoreError, Transition,
};
use sqlx::migrate::Migrator;

use crate::support::mariadb;
use crate::support::orders::{self, ONE_EACH};

const SALE: &str = "sale";

fn order(sku: &str, n: u32) -> OrderMessage {
    orders::order(SALE, sku, n)
}

/// Available units and the live orders' together, which must be all there are.
async fn available(store: &Store, sku: &str) -> i64 {
    let images = store.sku_images(SALE).await.unwrap();
    let image = images.into_iter().find(|image| image.sku == sku).unwrap();
    let live = image.orders.iter().filter(|order| order.state.is_live());
    let held: i64 = live.map(|order| i64::from(order.quantity)).sum();
    assert_eq!(image.available + held, image.total, "{sku}");
    image.available
}

/// Eight writers at once take all units of one SKU, and some that are not there; every fifth buyer cancels.
async fn rush(store: &Store, sku: &'static str) -> usize {
    let mut writers = Vec::new();
    for writer in 0..8_u32 {
        let store = store.clone();
        writers.push(tokio::spawn(async move {
            let mut created = 0;
            for batch in 0..5 {
                let from = (writer * 5 + batch) * 10;
                let orders: Vec<_> = (from..from + 10).map(|n| order(sku, n)).collect();
                let applied = store.apply(&orders).await.unwrap();
                let is_created = |outcome| outcome == AppliedOutcome::Created;
                created += applied.iter().filter(|one| is_created(one.outcome)).count();
                let cancelled = store.cancel(&order(sku, from).order_id).await.unwrap();
                assert_ne!(cancelled, Transition::NotFound);
            }
            created
        }));
    }
    let mut created = 0;
    for writer in writers {
        created += writer.await.unwrap();
    }
    created
}

#[tokio::test]
async fn no_strategy_sells_a_unit_twice() {
    for &strategy in StockStrategy::value_variants() {
        let tables = StockTables {
            strategy,
            ..mariadb::TABLES
        };
        let url = mariadb::database().await;
        let store = mariadb::open(&url, tables).await.unwrap();
        store.put_sale(SALE, ONE_EACH).await.unwrap();
        store.put_sku(SALE, "hot", 150).await.unwrap();
        let created = rush(&store, "hot").await;
        assert!(created >= 150, "{strategy:?}: {created} of 150 units sold");
        let left = available(&store, "hot").await;
        assert!((0..=40).contains(&left), "{strategy:?}: {left} units left");
    }
}

#[tokio::test]
async fn a_sku_is_in_the_one_table_that_the_routing_names() {
    let url = mariadb::database().await;
    let store = mariadb::open(&url, mariadb::TABLES).await.unwrap();
    store.put_sale(SALE, ONE_EACH).await.unwrap();
    let mut beside = mariadb::connect(&url).await;
    for n in 0..50 {
        let sku = format!("sku-{n:02}");
        store.put_sku(SALE, &sku, 3).await.unwrap();
        store.apply(&[order(&sku, n)]).await.unwrap();
        assert_eq!(available(&store, &sku).await, 2);
        // As the target file says it in SQL.
        let routed = "SELECT CONCAT('stock_', LPAD(CRC32(CONCAT(?, '/', ?)) % shards, 2, '0')) FROM stock_layout";
        let routed: String = sqlx::query_scalar(routed)
            .bind(SALE)
            .bind(&sku)
            .fetch_one(&mut beside)
            .await
            .unwrap();
        assert_eq!(mariadb::TABLES.shards.table(SALE, &sku), routed);
        let there = format!("SELECT available FROM {routed} WHERE sale = ? AND sku = ?");
        let there: i64 = sqlx::query_scalar(&there)
            .bind(SALE)
            .bind(&sku)
            .fetch_one(&mut beside)
            .await
            .unwrap();
        assert_eq!(there, 2);
    }
    let by_hand = sqlx::query("UPDATE stock SET available = 9").execute(&mut beside);
    assert!(by_hand.await.is_err(), "what reads all cannot write any");
}

#[tokio::test]
async fn another_number_of_tables_is_refused_and_named() {
    let url = mariadb::database().await;
    let seven = StockTables {
        shards: Shards::of(7),
        ..mariadb::TABLES
    };
    mariadb::open(&url, seven).await.unwrap();
    let refused = mariadb::open(&url, mariadb::TABLES).await.unwrap_err();
    assert!(matches!(
        refused,
        StoreError::OtherShards {
            asked: 100,
            stored: 7
        }
    ));
    assert!(
        refused.to_string().contains("--stock-shards 7"),
        "{refused}"
    );
    mariadb::open(&url, seven).await.unwrap();
}

/// A database of an earlier version, with stock in it.
async fn before_the_shards(url: &str) {
    let folder = tempfile::tempdir().unwrap();
    let migrations = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    for name in [
        "0001_flashsale.sql",
        "0002_nodes.sql",
        "0003_queue_paths.sql",
    ] {
        std::fs::copy(migrations.join(name), folder.path().join(name)).unwrap();
    }
    let mut earlier = Migrator::new(folder.path()).await.unwrap();
    earlier.set_locking(false);
    let mut connection = mariadb::connect(url).await;
    earlier.run(&mut connection).await.unwrap();
    for n in 0..30 {
        let put =
            sqlx::query("INSERT INTO stock (sale, sku, total, available) VALUES (?, ?, 9, ?)");
        let put = put.bind(SALE).bind(format!("größe-{n}")).bind(n % 10);
        put.execute(&mut connection).await.unwrap();
    }
}

#[tokio::test]
async fn stock_from_before_the_tables_is_found_again() {
    let url = mariadb::database().await;
    before_the_shards(&url).await;
    let store = mariadb::open(&url, mariadb::TABLES).await.unwrap();
    store.put_sale(SALE, ONE_EACH).await.unwrap();
    for n in 0..30_u32 {
        let sku = format!("größe-{n}");
        let images = store.sku_images(SALE).await.unwrap();
        let image = images.iter().find(|image| image.sku == sku).unwrap();
        assert_eq!(image.available, i64::from(n % 10));
        let taken = store.apply(&[order(&sku, n)]).await.unwrap();
        let expected = match n % 10 {
            0 => AppliedOutcome::Rejected(flashsale::store::reason::STOCK_EXHAUSTED),
            _ => AppliedOutcome::Created,
        };
        assert_eq!(taken[0].outcome, expected, "{sku}");
    }
}
