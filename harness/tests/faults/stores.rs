//! Faults of what a store holds.

use flashdrill::environment::{RedisNode, Stack};
use flashdrill::faults::{CacheStockRaise, Fault, LostKey, RedisKeyLoss, RedisMemoryLimit};
use redis::cmd;

use super::{count, missing, receipt, run};

const STOCK_KEY: &str = "fs:{sale:s1}:stock";
const HELD_KEY: &str = "fs:{sale:s1}:held";

async fn primary(stack: &Stack) -> &RedisNode {
    stack.redis.primary_of(STOCK_KEY).await.unwrap()
}

async fn hold(stack: &Stack, key: &str, field: &str, units: u64) -> Result<u64, String> {
    let set = cmd("HSET").arg(key).arg(field).arg(units).to_owned();
    let answer = primary(stack).await.query(&set).await;
    answer.map_err(|error| error.to_string())
}

pub async fn raised_stock_is_seen(stack: &Stack) {
    hold(stack, STOCK_KEY, "available", 10).await.unwrap();
    let raise = CacheStockRaise {
        sku: count(1),
        units: count(5),
    };
    let receipt = receipt(run(stack, 0, Fault::CacheStockRaise(raise)).await);
    assert!(receipt.ends_with("10 -> 15"), "{receipt}");
}

pub async fn a_lost_key_is_gone(stack: &Stack) {
    hold(stack, HELD_KEY, "u1", 1).await.unwrap();
    let lose = |key| Fault::RedisKeyLoss(RedisKeyLoss { sku: count(1), key });
    let held = run(stack, 0, lose(LostKey::Held)).await;
    assert_eq!(
        receipt(held),
        format!("{HELD_KEY} was there and is deleted")
    );
    let exists: u64 = primary(stack)
        .await
        .query(cmd("EXISTS").arg(HELD_KEY))
        .await
        .unwrap();
    assert_eq!(exists, 0);

    let again = missing(run(stack, 0, lose(LostKey::Held)).await);
    assert!(again.contains("there was no key"), "{again}");
}

pub async fn writes_are_refused_at_the_memory_limit(stack: &Stack) {
    let limit = || Fault::RedisMemoryLimit(RedisMemoryLimit { sku: count(1) });
    let write_until_refused = async {
        loop {
            match hold(stack, STOCK_KEY, "available", 10).await {
                Ok(_) => tokio::task::yield_now().await,
                Err(error) => return error,
            }
        }
    };
    let (event, refusal) = tokio::join!(run(stack, 400, limit()), write_until_refused);
    assert!(
        refusal.contains("OOM") || refusal.contains("maxmemory"),
        "{refusal}"
    );
    let receipt = receipt(event);
    assert!(receipt.contains("has refused"), "{receipt}");
    hold(stack, STOCK_KEY, "available", 10).await.unwrap();

    let reason = missing(run(stack, 100, limit()).await);
    assert!(reason.contains("has refused no write"), "{reason}");
}
