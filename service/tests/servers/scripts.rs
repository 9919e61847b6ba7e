//! Every Lua script against a real Redis: what it answers, what it writes, and what it never does.

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use flashsale::sale::sku::Rules;
use flashsale::stock::image::{Image, ImageOrder, ImageState};
use flashsale::stock::keys::Keys;
use flashsale::stock::scripts::Scripts;
use redis::AsyncCommands;
use redis::aio::MultiplexedConnection;
use tokio::sync::Mutex;

use crate::support::redis::RedisNode;

const NOW_MS: u64 = 1_000_000;
const DEADLINE_MS: u64 = NOW_MS + 900_000;

static NODE: OnceLock<Mutex<Option<RedisNode>>> = OnceLock::new();
static SKUS: AtomicU32 = AtomicU32::new(0);

/// One SKU of its own on the shared server.
#[derive(Clone)]
struct Bench {
    redis: MultiplexedConnection,
    scripts: std::sync::Arc<Scripts>,
    keys: Keys,
}

/// (order id, user, quantity)
type Ask<'a> = (&'a str, &'a str, &'a str);

impl Bench {
    async fn empty() -> Self {
        let mut node = NODE.get_or_init(Mutex::default).lock().await;
        if node.is_none() {
            *node = Some(RedisNode::start().await);
        }
        let mut redis = node.as_ref().unwrap().connect().await;
        let scripts = Scripts::default();
        scripts.load(&mut redis).await.unwrap();
        let keys = Keys::new(
            "sale",
            &format!("sku{}", SKUS.fetch_add(1, Ordering::Relaxed)),
        );
        Self {
            redis,
            scripts: scripts.into(),
            keys,
        }
    }

    /// Epoch 1, gate open.
    async fn selling(available: i64, limit_per_user: u32) -> Self {
        let mut bench = Self::empty().await;
        let rules = Rules {
            limit_per_user,
            ..Rules::default()
        };
        assert_eq!(bench.rebuild(1, available, rules, vec![]).await, 1);
        assert_eq!(bench.gate(1, "open").await, "open");
        bench
    }

    async fn reserve_at(
        &mut self,
        epoch: u64,
        now_ms: u64,
        asks: &[Ask<'_>],
    ) -> (i64, Vec<String>) {
        let mut cmd = self.scripts.reserve.call(&self.keys.all());
        cmd.arg(epoch).arg(now_ms).arg(DEADLINE_MS);
        for (id, user, quantity) in asks {
            cmd.arg(id)
                .arg(user)
                .arg(quantity)
                .arg(format!("request-{id}"));
        }
        let mut answer: Vec<redis::Value> = cmd.query_async(&mut self.redis).await.unwrap();
        let words = answer
            .split_off(1)
            .into_iter()
            .map(|word| redis::from_redis_value(word).unwrap())
            .collect();
        (redis::from_redis_value(answer.remove(0)).unwrap(), words)
    }

    async fn reserve(&mut self, asks: &[Ask<'_>]) -> (i64, Vec<String>) {
        self.reserve_at(1, NOW_MS, asks).await
    }

    async fn release(&mut self, id: &str) -> (i64, i64) {
        self.release_at(1, id).await
    }

    async fn release_at(&mut self, epoch: u64, id: &str) -> (i64, i64) {
        self.scripts
            .release(&self.keys, epoch, id)
            .query_async(&mut self.redis)
            .await
            .unwrap()
    }

    async fn settle(&mut self, id: &str) -> String {
        self.scripts
            .settle(&self.keys, id)
            .query_async(&mut self.redis)
            .await
            .unwrap()
    }

    async fn gate(&mut self, epoch: u64, gate: &str) -> String {
        self.scripts
            .gate(&self.keys, epoch, gate)
            .query_async(&mut self.redis)
            .await
            .unwrap()
    }

    async fn fence(&mut self, epoch: u64) -> u64 {
        self.scripts
            .fence(&self.keys, epoch)
            .query_async(&mut self.redis)
            .await
            .unwrap()
    }

    async fn rebuild(
        &mut self,
        epoch: u64,
        available: i64,
        rules: Rules,
        orders: Vec<ImageOrder>,
    ) -> u64 {
        let image = Image {
            available,
            rules,
            orders,
        };
        self.scripts
            .rebuild(&self.keys, epoch, &image)
            .query_async(&mut self.redis)
            .await
            .unwrap()
    }

    async fn stock(&mut self, field: &str) -> Option<String> {
        self.redis.hget(&self.keys.stock, field).await.unwrap()
    }

    async fn held(&mut self) -> HashMap<String, i64> {
        self.redis.hgetall(&self.keys.held).await.unwrap()
    }

    async fn ledger(&mut self) -> BTreeMap<String, String> {
        self.redis.hgetall(&self.keys.ledger).await.unwrap()
    }

    async fn deadlines(&mut self) -> Vec<(String, u64)> {
        self.redis
            .zrange_withscores(&self.keys.deadlines, 0, -1)
            .await
            .unwrap()
    }
}

#[tokio::test]
async fn a_grant_writes_stock_held_ledger_and_deadline() {
    let mut bench = Bench::selling(10, 2).await;
    assert_eq!(
        bench.reserve(&[("a", "u1", "2")]).await,
        (8, vec!["granted".into()])
    );
    assert_eq!(bench.stock("available").await.as_deref(), Some("8"));
    assert_eq!(bench.held().await, [("u1".to_owned(), 2)].into());
    let entry = format!("reserved|u1|2|{DEADLINE_MS}|request-a");
    assert_eq!(bench.ledger().await, [("a".to_owned(), entry)].into());
    assert_eq!(bench.deadlines().await, [("a".to_owned(), DEADLINE_MS)]);
}

#[tokio::test]
async fn checks_come_in_order_and_a_refusal_writes_nothing() {
    type Prepare = &'static [&'static str];
    // (what the stock hash is set to, epoch asked with, answer)
    let table: [(Prepare, u64, &str); 9] = [
        (&[], 2, "stale_epoch"),
        (&["gate", "closed"], 2, "stale_epoch"),
        (&["gate", "closed"], 1, "closed"),
        (&["gate", "closed", "starts_at_ms", "1000001"], 1, "closed"),
        (&["starts_at_ms", "1000001"], 1, "not_started"),
        (&["ends_at_ms", "1000000"], 1, "ended"),
        (&["limit", "1", "available", "0"], 1, "limit_reached"),
        (&["available", "1"], 1, "sold_out"),
        (&["available", "-3"], 1, "sold_out"),
    ];
    for (prepare, epoch, expected) in table {
        let mut bench = Bench::selling(10, 5).await;
        for pair in prepare.chunks(2) {
            let _: () = bench
                .redis
                .hset(&bench.keys.stock, pair[0], pair[1])
                .await
                .unwrap();
        }
        let before = bench.stock("available").await;
        let (_, words) = bench.reserve_at(epoch, NOW_MS, &[("a", "u1", "2")]).await;
        assert_eq!(words, [expected], "{prepare:?}");
        assert_eq!(bench.stock("available").await, before);
        assert!(bench.held().await.is_empty() && bench.ledger().await.is_empty());
    }
}

#[tokio::test]
async fn missing_keys_sell_nothing() {
    let mut bench = Bench::empty().await;
    assert_eq!(
        bench.reserve(&[("a", "u1", "1")]).await,
        (0, vec!["unknown_sku".into()])
    );
    assert!(bench.stock("available").await.is_none());

    let mut bench = Bench::selling(10, 0).await;
    let _: () = bench
        .redis
        .hdel(&bench.keys.stock, "available")
        .await
        .unwrap();
    assert_eq!(
        bench.reserve(&[("a", "u1", "1")]).await,
        (0, vec!["sold_out".into()])
    );
}

#[tokio::test]
async fn only_whole_positive_quantities_are_sold() {
    let mut bench = Bench::selling(10, 0).await;
    for quantity in ["0", "-1", "1.5", "x", "", "nan"] {
        assert_eq!(
            bench.reserve(&[("a", "u1", quantity)]).await,
            (10, vec!["invalid".into()]),
            "{quantity:?}"
        );
    }
}

#[tokio::test]
async fn requests_of_one_batch_see_each_other() {
    let mut bench = Bench::selling(4, 2).await;
    let asks = [
        ("a", "u1", "1"),
        ("a", "u1", "1"),
        ("b", "u1", "1"),
        ("c", "u2", "2"),
        ("d", "u3", "2"),
        ("e", "u4", "1"),
    ];
    let (remaining, words) = bench.reserve(&asks).await;
    assert_eq!(
        words,
        [
            "granted",
            "duplicate",
            "limit_reached",
            "granted",
            "sold_out",
            "granted"
        ]
    );
    assert_eq!(remaining, 0);
    // The same again, now from the ledger.
    let (_, words) = bench.reserve(&asks).await;
    assert_eq!(
        words,
        [
            "duplicate",
            "duplicate",
            "limit_reached",
            "duplicate",
            "sold_out",
            "duplicate"
        ]
    );
    assert_eq!(bench.stock("available").await.as_deref(), Some("0"));
}

#[tokio::test]
async fn a_release_gives_back_once_and_the_user_may_buy_again() {
    let mut bench = Bench::selling(3, 2).await;
    bench.reserve(&[("a", "u1", "2")]).await;
    assert_eq!(bench.release("a").await, (1, 3));
    assert_eq!(bench.release("a").await, (0, 3));
    assert!(bench.held().await.is_empty());
    assert!(bench.deadlines().await.is_empty());
    assert!(bench.ledger().await["a"].starts_with("released|u1|2|"));
    assert_eq!(
        bench.reserve(&[("a", "u1", "2"), ("b", "u1", "1")]).await,
        (2, vec!["duplicate".into(), "granted".into()])
    );
}

#[tokio::test]
async fn an_unknown_id_that_was_settled_or_released_can_never_be_reserved() {
    let mut bench = Bench::selling(3, 2).await;
    assert_eq!(bench.settle("a").await, "refused");
    assert_eq!(bench.release("b").await, (0, 3));
    assert_eq!(
        bench.reserve(&[("a", "u1", "1"), ("b", "u2", "1")]).await,
        (3, vec!["refused".into(); 2])
    );
    assert_eq!(bench.release("a").await, (0, 3));

    bench.reserve(&[("c", "u3", "1")]).await;
    assert_eq!(bench.settle("c").await, "reserved");
    bench.release("c").await;
    assert_eq!(bench.settle("c").await, "released");
}

#[tokio::test]
async fn the_gate_moves_only_in_its_epoch() {
    let mut bench = Bench::empty().await;
    assert_eq!(bench.gate(1, "open").await, "missing");
    let mut bench = Bench::selling(1, 0).await;
    assert_eq!(bench.gate(0, "closed").await, "stale_epoch");
    assert_eq!(bench.stock("gate").await.as_deref(), Some("open"));
    assert_eq!(bench.gate(1, "closed").await, "closed");
}

#[tokio::test]
async fn a_rebuild_overwrites_everything_under_the_epoch_of_its_fence() {
    let mut bench = Bench::selling(50, 2).await;
    bench.reserve(&[("old", "u9", "2")]).await;
    let order = |id: &str, user: &str, quantity, state| ImageOrder {
        order_id: id.into(),
        user: user.into(),
        quantity,
        state,
        deadline_ms: 7,
    };
    let orders = vec![
        order("a", "u1", 2, ImageState::Reserved),
        order("b", "u2", 1, ImageState::Paid),
        order("c", "u3", 1, ImageState::Released),
    ];
    let rules = Rules {
        limit_per_user: 3,
        starts_at_ms: 5,
        ..Rules::default()
    };
    assert_eq!(bench.fence(3).await, 3);
    for _again in 0..2 {
        assert_eq!(bench.rebuild(3, 47, rules, orders.clone()).await, 3);
        assert_eq!(bench.stock("available").await.as_deref(), Some("47"));
        assert_eq!(bench.stock("gate").await.as_deref(), Some("closed"));
        assert_eq!(bench.stock("limit").await.as_deref(), Some("3"));
        assert_eq!(
            bench.held().await,
            [("u1".to_owned(), 2), ("u2".to_owned(), 1)].into()
        );
        let states: Vec<_> = bench
            .ledger()
            .await
            .into_values()
            .map(|e| e.split('|').next().unwrap().to_owned())
            .collect();
        assert_eq!(states, ["reserved", "reserved", "released"]);
        assert_eq!(bench.deadlines().await, [("a".to_owned(), 7)]);
    }
    assert_eq!(
        bench.reserve(&[("late", "u5", "1")]).await,
        (47, vec!["stale_epoch".into()])
    );
}

/// A keeper that slept through its lease wakes up in the middle of its rebuild.
#[tokio::test]
async fn what_was_sent_under_an_older_epoch_changes_nothing() {
    let mut bench = Bench::selling(5, 2).await;
    bench.reserve(&[("a", "u1", "1")]).await;
    assert_eq!(bench.fence(4).await, 4);
    assert_eq!(bench.stock("gate").await.as_deref(), Some("closed"));
    assert_eq!(bench.fence(3).await, 4, "an older fence");
    assert_eq!(bench.rebuild(3, 99, Rules::default(), vec![]).await, 4);
    assert_eq!(bench.gate(3, "open").await, "stale_epoch");
    assert_eq!(bench.release("a").await, (-1, 0));
    assert_eq!(bench.stock("available").await.as_deref(), Some("4"));
    assert_eq!(bench.stock("gate").await.as_deref(), Some("closed"));
    assert_eq!(bench.release_at(4, "a").await, (1, 5));

    // A primary that lost the SKU is fenced like any other.
    let mut bench = Bench::empty().await;
    assert_eq!(bench.fence(7).await, 7);
    assert_eq!(
        bench.reserve_at(7, NOW_MS, &[("b", "u2", "1")]).await.1,
        ["closed"]
    );
}

/// Many batches at once, many users, repeated ids: exactly the stock is granted, each id and each
/// user once.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn racing_batches_grant_exactly_the_stock() {
    for seed in 0..8u64 {
        let stock = 20 + i64::try_from(seed).unwrap() * 7;
        let bench = Bench::selling(stock, 1).await;
        let mut tasks = tokio::task::JoinSet::new();
        for task in 0..16u64 {
            let mut bench = bench.clone();
            tasks.spawn(async move {
                let mut granted = Vec::new();
                for round in 0..20u64 {
                    let asks = asks(seed * 1_000 + task * 20 + round);
                    let borrowed: Vec<Ask<'_>> = asks
                        .iter()
                        .map(|(id, user)| (id.as_str(), user.as_str(), "1"))
                        .collect();
                    let (remaining, words) = bench.reserve(&borrowed).await;
                    assert!(remaining >= 0);
                    let won = asks.iter().zip(words).filter(|(_, word)| word == "granted");
                    granted.extend(won.map(|((id, user), _)| (id.clone(), user.clone())));
                }
                granted
            });
        }
        let granted: Vec<_> = tasks.join_all().await.into_iter().flatten().collect();
        let ids: std::collections::HashSet<_> = granted.iter().map(|(id, _)| id).collect();
        let users: std::collections::HashSet<_> = granted.iter().map(|(_, user)| user).collect();
        assert_eq!(
            (granted.len(), ids.len(), users.len()),
            (stock as usize, stock as usize, stock as usize),
            "seed {seed}"
        );
    }
}

/// A batch of up to 64 (id, user); a small pool, so that ids and users repeat. A pure function of `seed`.
fn asks(seed: u64) -> Vec<(String, String)> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let size = 1 + next() % 64;
    (0..size)
        .map(|_| {
            let user = next() % 400;
            (format!("{user}-{}", next() % 2), format!("u{user}"))
        })
        .collect()
}
