//! The store reader, settle and the sampler against a real MariaDB and a real Redis Cluster.

#![allow(clippy::unwrap_used, reason = "helpers of a test are tests too")]

mod plan;
mod servers;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use flashdrill::check::CheckId;
use flashdrill::drill::plan::Plan;
use flashdrill::history::final_state::{CacheRow, OrderRow, OrderState, StockRow};
use flashdrill::observe::{
    Endpoints, MachineReading, Sample, Sampler, SamplerOptions, SettleOptions, StoreReader, settle,
};
use flashdrill::target::StateQueries;
use flashdrill::target::template::Variables;
use servers::{Scratch, Server, http_page, mariadb, redis, redis_cluster};
use sqlx::{Connection, Executor, MySqlConnection};

/// `s0` and `s3` are in different halves of the slots.
const SKUS: [(&str, u32); 2] = [("s0", 5), ("s3", 2)];

const METRICS: &str = "answers_total{reason=\"busy\"} 4\nredelivered_total 2\n";

/// Columns of many types, as other people's schemas have them.
const TABLES: &str = "
    CREATE TABLE stock (sale VARCHAR(32), sku VARBINARY(32), total BIGINT UNSIGNED, available INT);
    CREATE TABLE orders (
        order_id CHAR(8) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY, sale VARCHAR(32),
        request_id VARCHAR(64), user VARBINARY(32), sku VARCHAR(32), quantity SMALLINT UNSIGNED,
        state ENUM('open', 'paid', 'cancelled'), reason TEXT NULL);
    INSERT INTO stock VALUES ('sale-1', 's0', 5, 3), ('sale-1', 's3', 2, 2), ('old', 's0', 9, 9);
    INSERT INTO orders VALUES
        ('o1', 'sale-1', 'r-1', 'u1', 's0', 2, 'open', NULL),
        ('o2', 'sale-1', 'r-2', 'u2', 's0', 1, 'cancelled', 'by buyer'),
        ('o9', 'old', 'r-9', 'u9', 's0', 1, 'paid', '');";

struct World {
    store: Server,
    cache: [Server; 2],
    plan: Plan,
    endpoints: Endpoints,
}

impl World {
    async fn new() -> Self {
        let (store, cache) = (mariadb(), redis_cluster());
        let endpoints = Endpoints {
            mysql_url: format!("mysql://root@{}/sale", store.address),
            redis_nodes: cache.iter().map(|node| node.address).collect(),
            service_urls: vec![format!("http://{}", http_page(METRICS))],
        };
        let world = Self {
            store,
            cache,
            plan: plan::sale_of(&SKUS, queries()),
            endpoints,
        };
        world.sql(TABLES).await;
        world.cached("HSET fs:{sale-1:s0}:stock available 3");
        world.cached("HSET fs:{sale-1:s0}:held u1 2");
        world.cached("HSET fs:{sale-1:s3}:stock available 2");
        world
    }

    fn reader(&self) -> StoreReader {
        let limit = Duration::from_secs(10);
        StoreReader::new(&self.plan, &Variables::new(), &self.endpoints, limit).unwrap()
    }

    async fn sql(&self, text: &str) {
        let mut connection = MySqlConnection::connect(&self.endpoints.mysql_url)
            .await
            .unwrap();
        connection.execute(sqlx::raw_sql(text)).await.unwrap();
    }

    /// Runs a command on whichever node owns its key.
    fn cached(&self, command: &str) {
        let answers = self.cache.iter().map(|node| redis(node.address, command));
        assert_eq!(
            answers.filter(|answer| answer.starts_with(':')).count(),
            1,
            "{command}"
        );
    }

    fn settle_options(&self, give_up_after: Duration) -> SettleOptions {
        let now = Instant::now();
        SettleOptions::new(now, give_up_after, Duration::ZERO)
    }
}

async fn empty_queue() -> Result<u64, String> {
    Ok(0)
}

#[tokio::test]
async fn reads_all_stores_as_they_are() {
    let world = World::new().await;
    let state = world.reader().read_all(&empty_queue).await;
    assert_eq!(state.unread, Vec::<String>::new());
    let row = |id: &str, quantity, state, reason: &str| OrderRow {
        order_id: format!("o{id}"),
        request_id: format!("r-{id}"),
        user: format!("u{id}"),
        sku: "s0".to_owned(),
        quantity,
        state,
        reason: reason.to_owned(),
    };
    let orders = [
        row("1", 2, OrderState::Created, ""),
        row("2", 1, OrderState::Cancelled, "by buyer"),
    ];
    assert_eq!(state.orders, orders);
    let stock = |sku: &str, total, available| StockRow {
        sku: sku.to_owned(),
        total,
        available,
    };
    assert_eq!(state.stock, [stock("s0", 5, 3), stock("s3", 2, 2)]);
    let cache = |sku: &str, available, held: BTreeMap<String, i64>| CacheRow {
        sku: sku.to_owned(),
        available: Some(available),
        held,
    };
    let held = BTreeMap::from([("u1".to_owned(), 2)]);
    assert_eq!(
        state.cache,
        [cache("s0", 3, held), cache("s3", 2, BTreeMap::new())]
    );
    assert_eq!(state.queue_backlog, Some(0));
    assert_eq!(state.counters.get("redelivered"), Some(&2.0));
}

#[tokio::test]
async fn names_what_it_cannot_read_and_reads_the_rest() {
    let mut world = World::new().await;
    let mut reader = world.reader();
    assert_eq!(reader.read().await.unread, Vec::<String>::new());

    world.cached("DEL fs:{sale-1:s3}:stock");
    let state = reader.read().await;
    assert_eq!(
        state.cache[1].available, None,
        "a missing key is read as missing"
    );

    world
        .sql("ALTER TABLE orders MODIFY state VARCHAR(9); UPDATE orders SET state = 'odd'")
        .await;
    let state = reader.read_all(&async || Err("no broker".to_owned())).await;
    assert!(
        state.unread[0].contains("`odd` is not in the target's order_states"),
        "{state:?}"
    );
    assert!(state.unread[1].contains("queue: no broker"), "{state:?}");
    assert_eq!(state.cache.len(), 2);

    world.cache[0].kill();
    let state = reader.read().await;
    assert_eq!(state.cache.len(), 1, "{state:?}");
    assert!(
        state.unread.iter().any(|line| line.starts_with("cache, s")),
        "{state:?}"
    );

    world.store.kill();
    let state = reader.read().await;
    assert!(
        state.unread.iter().any(|line| line.starts_with("store: ")),
        "{state:?}"
    );
    assert!(state.orders.is_empty() && state.stock.is_empty());
}

#[tokio::test]
async fn orders_and_stock_are_of_one_moment() {
    let world = World::new().await;
    let mut reader = world.reader();
    let mut writer = MySqlConnection::connect(&world.endpoints.mysql_url)
        .await
        .unwrap();
    let writing = tokio::spawn(async move {
        for _ in 0..300 {
            let sell = "START TRANSACTION;
                UPDATE stock SET available = available - 1 WHERE sale = 'sale-1' AND sku = 's3';
                INSERT INTO orders VALUES ('x', 'sale-1', 'r-x', 'ux', 's3', 1, 'open', '');
                COMMIT;
                START TRANSACTION;
                UPDATE stock SET available = available + 1 WHERE sale = 'sale-1' AND sku = 's3';
                DELETE FROM orders WHERE order_id = 'x';
                COMMIT;";
            writer.execute(sqlx::raw_sql(sell)).await.unwrap();
        }
    });
    let mut seen = [0, 0];
    while !writing.is_finished() {
        let state = reader.read().await;
        let live = state.orders.iter().filter(|row| row.sku == "s3").count();
        assert_eq!(state.stock[1].available, 2 - live as i64, "{state:?}");
        seen[live] += 1;
    }
    writing.await.unwrap();
    assert!(
        seen[0] > 0 && seen[1] > 0,
        "the test saw both sides of the sale: {seen:?}"
    );
}

#[tokio::test]
async fn settles_when_the_stores_agree_and_only_then() {
    let world = World::new().await;
    let mut reader = world.reader();
    let long = Duration::from_secs(60);
    let mut judged = world.plan.clone();
    judged.expect.checks = vec![CheckId::L3];

    let options = world.settle_options(long);
    let settled = settle(&mut reader, &judged, &empty_queue, &options).await;
    assert!(settled.converged_ms.is_some(), "{settled:?}");
    assert_eq!(settled.readings, 3);

    let horizon = SettleOptions {
        horizon: Duration::from_secs(2),
        ..world.settle_options(long)
    };
    let settled = settle(&mut reader, &judged, &empty_queue, &horizon).await;
    assert!(
        settled.converged_ms.is_some() && settled.readings > 3,
        "{settled:?}"
    );
    assert!(horizon.since.elapsed() >= horizon.horizon);

    let options = world.settle_options(Duration::from_millis(600));
    let one_left = async || Ok(1);
    let settled = settle(&mut reader, &judged, &one_left, &options).await;
    assert_eq!(
        (settled.converged_ms, settled.end.queue_backlog),
        (None, Some(1))
    );

    world.cached("HSET fs:{sale-1:s0}:held u9 1");
    let options = world.settle_options(Duration::from_millis(600));
    let settled = settle(&mut reader, &judged, &empty_queue, &options).await;
    assert_eq!(
        (settled.converged_ms, settled.end.queue_backlog),
        (None, Some(0))
    );

    // Where nobody asks that they agree, they are at rest when nothing moves any more.
    let options = world.settle_options(long);
    let settled = settle(&mut reader, &world.plan, &empty_queue, &options).await;
    assert_eq!((settled.converged_ms, settled.readings), (None, 3));

    let options = world.settle_options(long);
    let (settled, ()) = tokio::join!(
        settle(&mut reader, &judged, &empty_queue, &options),
        async {
            tokio::time::sleep(Duration::from_millis(700)).await;
            world.cached("HDEL fs:{sale-1:s0}:held u9");
        }
    );
    assert!(
        settled.converged_ms.is_some_and(|ms| ms >= 500),
        "{settled:?}"
    );
}

#[tokio::test]
async fn samples_go_to_the_file_and_survive_an_outage() {
    let mut world = World::new().await;
    let scratch = Scratch::new();
    let file = scratch.path().join("samples.jsonl");
    let options = SamplerOptions {
        start: Instant::now() + Duration::from_secs(1),
        every: Duration::from_millis(100),
        file: file.clone(),
    };
    let machine = || MachineReading {
        cpu_ms: BTreeMap::from([("redis".to_owned(), 5)]),
        ..MachineReading::default()
    };
    let sampler = Sampler::start(world.reader(), options, empty_queue, machine).unwrap();
    tokio::time::sleep(Duration::from_millis(500)).await;
    world.store.kill();
    tokio::time::sleep(Duration::from_millis(500)).await;
    let samples = sampler.stop().await.unwrap();

    let (first, last) = (&samples[0], samples.last().unwrap());
    assert!(first.at_ms < 0);
    assert_eq!(
        (first.store_available, first.store_available_min),
        (Some(5), Some(2))
    );
    assert_eq!(
        (first.cache_available, first.cache_available_min),
        (Some(5), Some(2))
    );
    assert_eq!(first.counters.get("busy"), Some(&4.0));
    assert_eq!(first.queue_backlog, Some(0));
    assert!(first.store_calls.contains_key("mysql") && first.store_calls.contains_key("redis"));
    assert_eq!(
        (last.store_available, last.cache_available),
        (None, Some(5))
    );
    assert_eq!(
        first.store_calls["redis"], last.store_calls["redis"],
        "nobody but the sampler asked"
    );
    let lines = std::fs::read_to_string(&file).unwrap();
    let read: Vec<Sample> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(read, samples);
}

fn queries() -> StateQueries {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect();
    let states = [
        ("open", OrderState::Created),
        ("paid", OrderState::Paid),
        ("cancelled", OrderState::Cancelled),
    ];
    let counters = [
        ("busy", "answers_total{reason=\"busy\"}"),
        ("redelivered", "redelivered_total"),
    ];
    StateQueries {
        orders: "SELECT order_id, request_id, user, sku, quantity, state, reason FROM orders \
                 WHERE sale = '{sale}' ORDER BY order_id"
            .to_owned(),
        stock: "SELECT sku, total, available FROM stock WHERE sale = '{sale}' ORDER BY sku"
            .to_owned(),
        cache_available: words("HGET fs:{{{sale}:{sku}}}:stock available"),
        cache_held: words("HGETALL fs:{{{sale}:{sku}}}:held"),
        order_states: states.map(|(name, state)| (name.to_owned(), state)).into(),
        metrics_path: "/metrics".to_owned(),
        counters: counters
            .map(|(name, metric)| (name.to_owned(), metric.to_owned()))
            .into(),
        ..StateQueries::default()
    }
}
