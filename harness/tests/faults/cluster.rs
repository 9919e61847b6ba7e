//! Faults of Redis Cluster.

use std::collections::HashSet;
use std::time::Duration;

use flashdrill::environment::{RedisNode, Stack};
use flashdrill::faults::{
    Fault, RedisFailover, RedisPartition, RedisPrimaryKill, RedisReplicationCut, RedisSlotMigration,
};
use redis::{Cmd, RedisResult, cmd};

use super::{count, missing, planned, receipt, run, run_all};

const LOG_KEY: &str = "fs:{sale:s1}:log";
/// Of the same slot.
const PAIR: [&str; 2] = ["fs:{sale:s1}:left", "fs:{sale:s1}:right"];

async fn primary(stack: &Stack) -> &RedisNode {
    stack.redis.primary_of(LOG_KEY).await.unwrap()
}

/// Appends numbers until that fails; returns those that were acknowledged.
async fn write_until_it_breaks(stack: &Stack) -> Vec<u64> {
    let mut connection = primary(stack).await.connect().await.unwrap();
    let mut acknowledged = Vec::new();
    for number in 0.. {
        let push = cmd("RPUSH").arg(LOG_KEY).arg(number).to_owned();
        let answer: RedisResult<u64> = push.query_async(&mut connection).await;
        if answer.is_err() {
            break;
        }
        acknowledged.push(number);
    }
    acknowledged
}

/// How many of the acknowledged writes the cluster has forgotten.
async fn forgotten(stack: &Stack, acknowledged: &[u64]) -> usize {
    let range = cmd("LRANGE").arg(LOG_KEY).arg(0).arg(-1).to_owned();
    let kept: Vec<u64> = primary(stack).await.query(&range).await.unwrap();
    let kept: HashSet<u64> = kept.into_iter().collect();
    let lost = acknowledged.iter().filter(|number| !kept.contains(number));
    let lost = lost.count();
    println!("{lost} of {} acknowledged writes lost", acknowledged.len());
    lost
}

pub async fn a_killed_primary_loses_acknowledged_writes(stack: &Stack) {
    let kill = Fault::RedisPrimaryKill(RedisPrimaryKill {
        sku: count(1),
        cut_replication_ms: 600,
    });
    let kill = run_all(stack, vec![planned(300, 6_000, kill)]);
    let (acknowledged, mut events) = tokio::join!(write_until_it_breaks(stack), kill);
    let receipt = receipt(events.remove(0));
    for part in ["signal 9", "that no replica had", "is primary of slot"] {
        assert!(receipt.contains(part), "{receipt}");
    }
    let lost = forgotten(stack, &acknowledged).await;
    assert!(lost > 0, "the fault is meant to lose writes");
    assert!(lost < acknowledged.len(), "those before the cut are kept");
    stack.reset().await.unwrap();
}

/// A primary greets its replicas every ten seconds; with the replication dark for longer, it has, and no replica knows.
pub async fn what_a_primary_sends_by_itself_is_no_write_lost(stack: &Stack) {
    let kill = Fault::RedisPrimaryKill(RedisPrimaryKill {
        sku: count(1),
        cut_replication_ms: 11_000,
    });
    let reason = missing(run(stack, 20_000, kill).await);
    assert!(reason.contains("its replicas had all"), "{reason}");
    stack.reset().await.unwrap();
}

pub async fn a_partitioned_primary_loses_what_it_acknowledges(stack: &Stack) {
    let partition = Fault::RedisPartition(RedisPartition { sku: count(1) });
    let partition = run_all(stack, vec![planned(300, 7_000, partition)]);
    let (acknowledged, mut events) = tokio::join!(write_until_it_breaks(stack), partition);
    let receipt = receipt(events.remove(0));
    for part in ["swallowed", "sees no majority", "is primary of slot"] {
        assert!(receipt.contains(part), "{receipt}");
    }
    let lost = forgotten(stack, &acknowledged).await;
    assert!(lost > 0, "what it acknowledged alone is lost");
    assert!(lost < acknowledged.len(), "those before the cut are kept");
    stack.reset().await.unwrap();
}

pub async fn a_replica_without_replication_falls_behind(stack: &Stack) {
    let cut = Fault::RedisReplicationCut(RedisReplicationCut { sku: count(1) });
    let write = async {
        for number in 0..50 {
            let push = cmd("RPUSH").arg(LOG_KEY).arg(number).to_owned();
            let _: u64 = primary(stack).await.query(&push).await.unwrap();
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let (event, ()) = tokio::join!(run(stack, 800, cut), write);
    let receipt = receipt(event);
    assert!(receipt.contains("bytes behind"), "{receipt}");
}

pub async fn a_failover_swaps_the_pair_and_back(stack: &Stack) {
    let before = primary(stack).await.index;
    let swap = Fault::RedisFailover(RedisFailover { sku: count(1) });
    let watch = async {
        while primary(stack).await.index == before {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let (event, ()) = tokio::join!(run(stack, 3_000, swap), watch);
    let receipt = receipt(event);
    assert!(receipt.contains("is primary of slot"), "{receipt}");
    assert_eq!(primary(stack).await.index, before, "swapped back");
}

/// Asks the node that had the slot, as a client that knows nothing yet.
async fn ask_forever(node: &RedisNode, command: Cmd) {
    let mut connection = node.connect().await.unwrap();
    loop {
        let _: RedisResult<redis::Value> = command.query_async(&mut connection).await;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub async fn a_slot_moves_under_traffic_and_back(stack: &Stack) {
    let home = primary(stack).await;
    for key in PAIR {
        let set = cmd("SET").arg(key).arg("here").to_owned();
        let _: String = home.query(&set).await.unwrap();
    }
    let both = cmd("MGET").arg(&PAIR).to_owned();
    let move_it = || {
        Fault::RedisSlotMigration(RedisSlotMigration {
            sku: count(1),
            half_way_ms: 300,
        })
    };
    let event = tokio::select! {
        event = run(stack, 800, move_it()) => event,
        () = ask_forever(home, both.clone()) => unreachable!("it asks forever"),
    };
    let receipt = receipt(event);
    assert!(receipt.contains("its 3 keys are on"), "{receipt}");
    for never in ["ASK 0 times, TRYAGAIN 0 times", "MOVED 0 times"] {
        assert!(!receipt.contains(never), "{receipt}");
    }
    assert_eq!(primary(stack).await.index, home.index, "moved back");
    let kept: Vec<String> = home.query(&both).await.unwrap();
    assert_eq!(kept, ["here", "here"]);

    let reason = missing(run(stack, 100, move_it()).await);
    assert!(reason.contains("no client was redirected"), "{reason}");
    assert_eq!(primary(stack).await.index, home.index);
}
