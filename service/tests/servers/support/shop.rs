//! The whole service on a real Redis and a real MariaDB, with a queue in memory in place of RocketMQ.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use clap::Parser;
use flashsale::base::Base;
use flashsale::gateway::App;
use flashsale::operations::metrics;
use flashsale::queue::{Answering, LocalTransaction, OrderQueue, Progress, QueuePath, Submitted};
use flashsale::reconcile::applied::AppliedNews;
use flashsale::sale::buy::{Answer, Purchase};
use flashsale::sale::order::{OrderMessage, Reserved};
use flashsale::sale::sku::{Gate, Rules};
use flashsale::sale::transaction::ReserveTransaction;
use flashsale::settings::Settings;
use flashsale::store::Store;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::task::JoinSet;

use super::{mariadb, redis::RedisNode};

pub const SALE: &str = "sale";
pub const SKU: &str = "sku";

static PROMETHEUS: OnceLock<PrometheusHandle> = OnceLock::new();

/// Reserves, and applies granted orders one by one after `delay`.
struct MemoryQueue {
    transaction: ReserveTransaction,
    store: Store,
    news: Arc<AppliedNews>,
    delay: Duration,
    broker: Broker,
}

impl OrderQueue for MemoryQueue {
    fn submit(&self, order: OrderMessage) -> Answering<'_, Submitted> {
        Box::pin(async move {
            let reserved = self.transaction.reserve(&order).await;
            if matches!(reserved, Reserved::Granted { .. }) {
                self.broker.granted.fetch_add(1, Ordering::SeqCst);
                let (store, news) = (self.store.clone(), Arc::clone(&self.news));
                let (delay, applied) = (self.delay, Arc::clone(&self.broker.applied));
                tokio::spawn(async move {
                    tokio::time::sleep(delay).await;
                    news.tell(&store.apply(&[order]).await.unwrap());
                    applied.fetch_add(1, Ordering::SeqCst);
                });
            }
            Submitted::Decided(reserved)
        })
    }

    fn progress(&self) -> Answering<'_, Option<Progress>> {
        Box::pin(async {
            let applied = self.broker.applied.load(Ordering::SeqCst);
            let granted = self.broker.granted.load(Ordering::SeqCst);
            Some(Progress::new([("memory".to_owned(), granted, applied)]))
        })
    }

    fn is_connected(&self) -> bool {
        true
    }
}

pub struct ShopBench {
    /// The first node, as most tests have only one.
    pub app: Arc<App>,
    pub nodes: Vec<Node>,
    pub node: Option<RedisNode>,
    pub mysql_url: String,
}

/// One node of the service.
pub struct Node {
    pub app: Arc<App>,
    /// Its follower, keeper and sweeps. Dropped, the node is as good as dead, apart from what it has sent.
    pub tasks: JoinSet<()>,
}

/// What a queue outside the nodes knows.
#[derive(Clone, Default)]
struct Broker {
    granted: Arc<AtomicI64>,
    applied: Arc<AtomicI64>,
}

impl ShopBench {
    /// A service with one SKU in MySQL, not warmed up. Messages take `delay` to be applied.
    pub async fn start(stock: i64, limit_per_user: u32, delay: Duration) -> Self {
        Self::start_nodes(1, stock, limit_per_user, delay).await
    }

    /// The same with several nodes.
    pub async fn start_nodes(
        count: usize,
        stock: i64,
        limit_per_user: u32,
        delay: Duration,
    ) -> Self {
        Self::start_on(QueuePath::RocketMq, count, stock, limit_per_user, delay).await
    }

    /// The same by one of the ways that orders can take.
    pub async fn start_on(
        queue: QueuePath,
        count: usize,
        stock: i64,
        limit_per_user: u32,
        delay: Duration,
    ) -> Self {
        let rules = Rules {
            limit_per_user,
            queue,
            ..Rules::default()
        };
        Self::start_with(&[], count, stock, rules, delay).await
    }

    /// The same with settings of its own.
    pub async fn start_with(
        flags: &[&str],
        count: usize,
        stock: i64,
        rules: Rules,
        delay: Duration,
    ) -> Self {
        let node = RedisNode::start().await;
        let (mysql_url, seed) = (mariadb::database().await, node.address.to_string());
        let (mysql, owner, redis) = (
            format!("--mysql-url={}", mariadb::node_url(&mysql_url)),
            format!("--mysql-owner-url={mysql_url}"),
            format!("--redis-seeds={seed}"),
        );
        let needed = [
            "flashsale",
            &mysql,
            &owner,
            &redis,
            "--rocketmq-namesrv=unused",
            "--ops-token=secret",
            // All of a test's buyers at once: none is told "busy".
            "--waiting-max=256",
        ];
        let settings = Settings::try_parse_from(needed.iter().chain(flags)).unwrap();
        let broker = Broker::default();
        // At once, as a deployment does.
        let mut starting = JoinSet::new();
        for _ in 0..count {
            let (settings, broker) = (settings.clone(), broker.clone());
            starting.spawn(async move { start_node(&settings, &broker, delay).await });
        }
        let nodes = starting.join_all().await;
        let app = Arc::clone(&nodes[0].app);
        app.store.put_sale(SALE, rules).await.unwrap();
        app.store.put_sku(SALE, SKU, stock).await.unwrap();
        Self {
            app,
            nodes,
            node: Some(node),
            mysql_url,
        }
    }

    pub async fn open(&self) {
        self.app.sales.warm_up(SALE).await.unwrap();
        self.app.sales.open(SALE).await.unwrap();
    }

    /// User `n` buys one unit.
    pub async fn buy(&self, n: usize) -> Answer {
        buy(&self.app, n).await
    }

    /// Users of `numbers` buy at once.
    pub async fn buy_all(&self, numbers: std::ops::Range<usize>) -> Vec<Answer> {
        let mut buyers = JoinSet::new();
        for n in numbers {
            let app = Arc::clone(&self.app);
            buyers.spawn(async move { buy(&app, n).await });
        }
        buyers.join_all().await
    }

    /// Redis loses everything, and the SKU is open again.
    pub async fn lose_redis(&mut self) {
        let node = self.node.take().unwrap();
        self.node = Some(node.restart_empty().await);
        let sku = self.app.shop.catalogue.find(SALE, SKU).unwrap();
        let before = sku.epoch();
        while sku.epoch() == before || sku.gate() != Gate::Open {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until both stores agree and no order is on its way; returns (available, live orders).
    pub async fn settled(&self) -> (i64, i64) {
        loop {
            let image = self.app.store.sku_images(SALE).await.unwrap().remove(0);
            let live = image
                .orders
                .iter()
                .filter(|order| order.state.is_live())
                .count() as i64;
            let idle = self
                .app
                .queues
                .backlog()
                .await
                .is_some_and(|backlog| backlog == 0);
            let sku = self.app.shop.catalogue.find(SALE, SKU).unwrap();
            let held = self
                .app
                .stock
                .contents(&sku)
                .await
                .map(|contents| (contents.available, contents.held.values().sum::<i64>()));
            if idle && held.is_ok_and(|redis| redis == (Some(image.available), live)) {
                return (image.available, live);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

async fn start_node(settings: &Settings, broker: &Broker, delay: Duration) -> Node {
    let mut tasks = JoinSet::new();
    let prometheus = PROMETHEUS
        .get_or_init(|| metrics::install().unwrap())
        .clone();
    let base = Base::lay(settings, &mut tasks).await.unwrap();
    let queue = MemoryQueue {
        transaction: base.transaction(),
        store: base.store.clone(),
        news: Arc::new(base.news.clone()),
        delay,
        broker: broker.clone(),
    };
    let app = base
        .start(
            settings,
            base.queues(Arc::new(queue)),
            None,
            prometheus,
            &mut tasks,
        )
        .await;
    Node {
        app: Arc::new(app.unwrap()),
        tasks,
    }
}

/// User `n` buys one unit at a node.
pub async fn buy(app: &App, n: usize) -> Answer {
    let purchase = Purchase {
        sale: SALE.into(),
        sku: SKU.into(),
        user: format!("u{n}").into(),
        quantity: 1,
        request_id: format!("r{n}").into(),
    };
    app.shop.buy(&purchase).await
}

/// How many were told that their order is queued.
pub fn queued(answers: &[Answer]) -> usize {
    let is_queued = |answer: &&Answer| matches!(answer, Answer::Queued(_));
    answers.iter().filter(is_queued).count()
}
