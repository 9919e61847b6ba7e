//! Lanes against a real Redis: what is answered when a server goes away and another one comes.

use std::sync::Arc;
use std::time::Duration;

use flashsale::operations::alerts::Alerts;
use flashsale::operations::metrics::Metrics;
use flashsale::sale::order::{OrderMessage, Reserved};
use flashsale::sale::sku::{Gate, Rules, Sku};
use flashsale::settings::{AddressMap, Unreplicated};
use flashsale::stock::image::{Image, compare};
use flashsale::stock::lane::LaneParts;
use flashsale::stock::scripts::Scripts;
use flashsale::stock::supervisor::Supervisor;
use flashsale::stock::topology::Scout;
use flashsale::stock::{Settled, Stock};
use tokio::sync::Notify;
use tokio::task::{JoinHandle, JoinSet};

use crate::support::redis::RedisNode;

struct Bench {
    /// Taken while it restarts.
    node: Option<RedisNode>,
    stock: Stock,
    supervisor: JoinHandle<()>,
}

impl Bench {
    async fn start(unreplicated: Unreplicated) -> Self {
        let node = RedisNode::start().await;
        let parts = LaneParts {
            scripts: Scripts::default(),
            metrics: Metrics::register(),
            alerts: Alerts::start("node", None, &mut JoinSet::new()),
            replica_ack: Duration::from_millis(20),
            unreplicated,
            hold: Duration::from_secs(900),
            closed: Notify::new(),
        };
        let scout = Scout::new(vec![node.address.clone()], AddressMap::default());
        let (mut supervisor, stock) = Supervisor::new(scout, parts);
        supervisor.look().await;
        assert!(stock.is_complete());
        Self {
            node: Some(node),
            stock,
            supervisor: tokio::spawn(supervisor.run()),
        }
    }

    /// A SKU in Redis, gate open, verified on the process that answers now.
    async fn selling(&self, name: &str, available: i64) -> Arc<Sku> {
        let rules = Rules {
            limit_per_user: 1,
            ..Rules::default()
        };
        let sku = Arc::new(Sku::new("sale", name, rules, Gate::Prepared));
        let image = Image {
            available,
            rules,
            orders: vec![],
        };
        let lane = self.stock.need(&sku).unwrap();
        let epoch = sku.epoch() + 1;
        self.stock
            .rebuild(&lane, &sku, epoch, &image)
            .await
            .unwrap();
        assert_eq!(
            compare(&image, &self.stock.contents(&sku).await.unwrap()),
            []
        );
        sku.rebuilt(rules, epoch, lane.identity.number);
        self.stock.set_gate(&sku, epoch, Gate::Open).await.unwrap();
        sku.set_gate(Gate::Open);
        sku
    }

    /// Waits until another process than `before` answers for the SKU.
    async fn until_replaced(&self, sku: &Sku, before: u64) {
        let is_new = || {
            self.stock
                .lane(sku.keys.slot)
                .is_some_and(|lane| lane.identity.number != before)
        };
        while !is_new() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.supervisor.abort();
    }
}

fn order(sku: &Sku, n: usize) -> Arc<OrderMessage> {
    Arc::new(OrderMessage {
        order_id: format!("{n:032x}"),
        sale: sku.sale.clone(),
        sku: sku.sku.clone(),
        user: format!("u{n}"),
        quantity: 1,
        request_id: format!("r{n}"),
        at_ms: flashsale::sale::clock::now_ms(),
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn many_buyers_of_many_skus_get_exactly_the_stock() {
    let bench = Bench::start(Unreplicated::GoOn).await;
    let mut tasks = JoinSet::new();
    for name in ["a", "b", "c"] {
        let sku = bench.selling(name, 40).await;
        for n in 0..500 {
            let (stock, sku) = (bench.stock.clone(), Arc::clone(&sku));
            tasks.spawn(async move { (name, stock.reserve(&sku, order(&sku, n)).await) });
        }
    }
    let outcomes = tasks.join_all().await;
    for name in ["a", "b", "c"] {
        let of = |wanted: fn(&Reserved) -> bool| {
            outcomes
                .iter()
                .filter(|(sku, outcome)| *sku == name && wanted(outcome))
                .count()
        };
        assert_eq!(
            of(|outcome| matches!(outcome, Reserved::Granted { .. })),
            40,
            "{name}"
        );
        assert_eq!(of(|outcome| *outcome == Reserved::SoldOut), 460, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_process_at_the_same_address_gets_no_reservation_until_the_sku_is_verified_on_it() {
    let mut bench = Bench::start(Unreplicated::GoOn).await;
    let sku = bench.selling("k", 10).await;
    assert_eq!(
        bench.stock.reserve(&sku, order(&sku, 1)).await,
        Reserved::Granted { remaining: 9 }
    );

    let node = bench.node.take().unwrap();
    bench.node = Some(node.restart_empty().await);
    bench.until_replaced(&sku, sku.verified_on()).await;

    assert!(!bench.stock.is_ready(&sku));
    assert_eq!(
        bench.stock.reserve(&sku, order(&sku, 2)).await,
        Reserved::Unavailable
    );
    assert_eq!(sku.gate(), Gate::Paused);

    // The same stock again, as a keeper would bring it back.
    let image = Image {
        available: 9,
        rules: sku.rules(),
        orders: vec![],
    };
    let lane = bench.stock.need(&sku).unwrap();
    let epoch = sku.epoch() + 1;
    let rebuilt = bench.stock.rebuild(&lane, &sku, epoch, &image).await;
    rebuilt.unwrap();
    assert!(
        epoch > 1,
        "an epoch is never used twice, even when Redis forgot it"
    );
    sku.rebuilt(sku.rules(), epoch, lane.identity.number);
    bench.stock.set_gate(&sku, epoch, Gate::Open).await.unwrap();
    sku.set_gate(Gate::Open);
    assert_eq!(
        bench.stock.reserve(&sku, order(&sku, 3)).await,
        Reserved::Granted { remaining: 8 }
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_answer_is_unknown_and_settling_it_says_the_truth_for_good() {
    let bench = Bench::start(Unreplicated::GoOn).await;
    let sku = bench.selling("k", 10).await;
    // The server stops answering for longer than a lane waits, and carries the request out afterwards.
    let mut redis = bench.node.as_ref().unwrap().connect().await;
    let pause = redis::cmd("CLIENT")
        .arg("PAUSE")
        .arg(2500)
        .arg("ALL")
        .to_owned();
    pause.exec_async(&mut redis).await.unwrap();
    let asked = order(&sku, 1);
    assert_eq!(
        bench.stock.reserve(&sku, Arc::clone(&asked)).await,
        Reserved::Unknown
    );

    let settled = loop {
        match bench.stock.settle(&sku, &asked.order_id).await {
            Ok(settled) => break settled,
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    };
    let again = bench.stock.reserve(&sku, asked).await;
    match settled {
        Settled::Reserved => assert_eq!(again, Reserved::Duplicate),
        Settled::Refused => assert_eq!(again, Reserved::Refused),
        Settled::Released => panic!("nobody released it"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_replica_a_cautious_sale_sells_nothing() {
    let bench = Bench::start(Unreplicated::Close).await;
    let sku = bench.selling("k", 10).await;
    assert_eq!(
        bench.stock.reserve(&sku, order(&sku, 1)).await,
        Reserved::Unavailable
    );
    assert_eq!(bench.stock.available(&sku).await.unwrap(), 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gate_closed_by_another_node_is_respected() {
    let bench = Bench::start(Unreplicated::GoOn).await;
    let sku = bench.selling("k", 10).await;
    bench
        .stock
        .set_gate(&sku, sku.epoch(), Gate::Closed)
        .await
        .unwrap();
    assert_eq!(
        bench.stock.reserve(&sku, order(&sku, 1)).await,
        Reserved::Closed
    );
    assert!(
        bench
            .stock
            .set_gate(&sku, sku.epoch() + 1, Gate::Open)
            .await
            .is_err()
    );
}
