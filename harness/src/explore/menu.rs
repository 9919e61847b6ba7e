//! What may be drawn to break: one line per fault. A service that is as it should be survives all of them.

use std::ops::RangeInclusive;

use crate::drill::range::Count;
use crate::faults::{
    BrokerCommitLost, BrokerDuplicateDelivery, BrokerKill, Fault, Grounds, LinkBandwidth, LinkDown,
    LinkHalfOpen, LinkLatency, LinkReset, LinkSlicing, LinkStall, Links, Lost, MysqlCommitKill,
    MysqlCommitReplyLost, MysqlConnectionLimit, MysqlDeadlock, MysqlLockHolder, MysqlReadOnly,
    MysqlReplicaLag, PlannedFault, RedisFailover, RedisMemoryLimit, RedisPartition,
    RedisPrimaryKill, RedisReplicationCut, RedisReplyLost, RedisSlotMigration, ServerKill,
    ServerName, ServerPause, ServerRestart, Streams, unmet,
};
use crate::load::random::Dice;

/// What of a drill a fault can be about.
#[derive(Debug, Clone, Copy)]
pub struct Scene {
    pub skus: u64,
    pub nodes: u64,
}

/// Which part a fault is about. Two faults of one part would hide each other's evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Redis,
    Queue,
    Mysql,
    Service,
}

/// A fault that may be drawn.
#[derive(Debug, Clone)]
pub struct Offer {
    pub part: Part,
    pub make: fn(&mut Dice, Scene) -> Fault,
    /// From the injection to the heal, ms; one that ends sooner has no evidence.
    pub for_ms: RangeInclusive<u64>,
}

use Part::{Mysql, Queue, Redis, Service};

const OFFERS: [Offer; 29] = [
    until_failover(|dice, scene| {
        Fault::RedisPrimaryKill(RedisPrimaryKill {
            sku: sku(dice, scene),
            cut_replication_ms: dice.within(100..=800),
        })
    }),
    offer(Redis, |dice, scene| {
        Fault::RedisFailover(RedisFailover {
            sku: sku(dice, scene),
        })
    }),
    until_failover(|dice, scene| {
        Fault::RedisPartition(RedisPartition {
            sku: sku(dice, scene),
        })
    }),
    offer(Redis, |dice, scene| {
        Fault::RedisMemoryLimit(RedisMemoryLimit {
            sku: sku(dice, scene),
        })
    }),
    offer(Redis, |dice, scene| {
        Fault::RedisReplicationCut(RedisReplicationCut {
            sku: sku(dice, scene),
        })
    }),
    offer(Redis, |dice, scene| {
        Fault::RedisSlotMigration(RedisSlotMigration {
            sku: sku(dice, scene),
            half_way_ms: dice.within(50..=800),
        })
    }),
    offer(Redis, |dice, _| {
        Fault::RedisReplyLost(RedisReplyLost {
            times: dice.within(1..=30),
        })
    }),
    offer(Redis, |dice, scene| paused("redis-primary", dice, scene)),
    offer(Redis, |dice, _| latency("service-*-redis-*", dice)),
    offer(Redis, |dice, _| stall("service-*-redis-*", dice)),
    offer(Redis, |dice, _| reset("service-*-redis-*", dice)),
    offer(Redis, |_, _| half_open("service-*-redis-*")),
    offer(Queue, |dice, _| {
        Fault::BrokerKill(BrokerKill {
            cut_requests_ms: dice.within(0..=400),
        })
    }),
    offer(Queue, |dice, _| {
        Fault::BrokerCommitLost(BrokerCommitLost {
            times: dice.within(1..=50),
        })
    }),
    offer(Queue, |dice, _| {
        Fault::BrokerDuplicateDelivery(BrokerDuplicateDelivery {
            times: dice.within(1..=20),
        })
    }),
    offer(Queue, |dice, scene| paused("rocketmq-broker", dice, scene)),
    offer(Queue, |dice, _| slicing("rocketmq-broker", dice)),
    offer(Queue, |dice, _| reset("rocketmq-broker", dice)),
    offer(Mysql, |_, _| Fault::MysqlCommitKill(MysqlCommitKill {})),
    offer(Mysql, |dice, _| {
        Fault::MysqlCommitReplyLost(MysqlCommitReplyLost {
            times: dice.within(1..=5),
        })
    }),
    offer(Mysql, |dice, _| {
        Fault::MysqlConnectionLimit(MysqlConnectionLimit {
            connections: count(dice, 10, 16),
        })
    }),
    offer(Mysql, |dice, scene| {
        Fault::MysqlDeadlock(MysqlDeadlock {
            sku: sku(dice, scene),
            times: dice.within(1..=3),
        })
    }),
    offer(Mysql, |dice, scene| {
        Fault::MysqlLockHolder(MysqlLockHolder {
            sku: sku(dice, scene),
        })
    }),
    offer(Mysql, |_, _| Fault::MysqlReadOnly(MysqlReadOnly {})),
    offer(Mysql, |_, _| Fault::MysqlReplicaLag(MysqlReplicaLag {})),
    offer(Mysql, |dice, _| bandwidth("service-*-mysql", dice)),
    offer(Mysql, |_, _| {
        Fault::LinkDown(LinkDown {
            links: links("service-*-mysql"),
        })
    }),
    offer(Service, |dice, scene| {
        let (server, sku) = (node(dice, scene), one());
        match dice.chance(0.5) {
            true => Fault::ServerKill(ServerKill { server, sku }),
            false => Fault::ServerRestart(ServerRestart {
                server,
                sku,
                grace_ms: 5_000,
            }),
        }
    }),
    offer(Service, |dice, scene| {
        Fault::ServerPause(ServerPause {
            server: node(dice, scene),
            sku: one(),
        })
    }),
];

const fn offer(part: Part, make: fn(&mut Dice, Scene) -> Fault) -> Offer {
    Offer {
        part,
        make,
        for_ms: 800..=4_000,
    }
}

/// A fault that must last until the cluster has promoted a replica, which takes up to 5 s.
const fn until_failover(make: fn(&mut Dice, Scene) -> Fault) -> Offer {
    Offer {
        part: Redis,
        make,
        for_ms: 6_000..=9_000,
    }
}

/// The offers that can take place on these grounds, of parts that the target has.
pub fn menu(grounds: Grounds<'_>) -> Vec<Offer> {
    let scene = Scene { skus: 1, nodes: 1 };
    let can = |offer: &&Offer| {
        let fault = (offer.make)(&mut Dice::new(0), scene);
        let planned = PlannedFault {
            at_ms: 0,
            for_ms: Some(1),
            fault,
        };
        let there = offer.part != Queue || grounds.target.state.has_queue();
        there && unmet(&[planned], grounds).is_empty()
    };
    OFFERS.iter().filter(can).cloned().collect()
}

fn sku(dice: &mut Dice, scene: Scene) -> Count {
    count(dice, 1, scene.skus)
}

fn node(dice: &mut Dice, scene: Scene) -> ServerName {
    server(&format!("service-{}", dice.within(0..=scene.nodes - 1)))
}

fn server(name: &str) -> ServerName {
    ServerName::new(name.to_owned()).expect("a server's name")
}

fn links(pattern: &str) -> Links {
    Links::new(vec![pattern.to_owned()]).expect("not empty")
}

fn one() -> Count {
    Count::new(1).expect("1 is in range")
}

fn count(dice: &mut Dice, least: u64, most: u64) -> Count {
    Count::new(dice.within(least..=most)).expect("at least 1")
}

fn streams(dice: &mut Dice) -> Streams {
    dice.pick(&[Streams::Upstream, Streams::Downstream, Streams::Both])
}

fn paused(name: &str, dice: &mut Dice, scene: Scene) -> Fault {
    Fault::ServerPause(ServerPause {
        server: server(name),
        sku: sku(dice, scene),
    })
}

fn latency(pattern: &str, dice: &mut Dice) -> Fault {
    Fault::LinkLatency(LinkLatency {
        links: links(pattern),
        stream: streams(dice),
        latency_ms: count(dice, 5, 300),
        jitter_ms: dice.within(0..=50),
    })
}

fn stall(pattern: &str, dice: &mut Dice) -> Fault {
    Fault::LinkStall(LinkStall {
        links: links(pattern),
        stream: streams(dice),
    })
}

fn reset(pattern: &str, dice: &mut Dice) -> Fault {
    Fault::LinkReset(LinkReset {
        links: links(pattern),
        every_ms: dice.within(100..=800),
    })
}

fn half_open(pattern: &str) -> Fault {
    Fault::LinkHalfOpen(LinkHalfOpen {
        links: links(pattern),
        lost: Lost::Answers,
    })
}

fn slicing(pattern: &str, dice: &mut Dice) -> Fault {
    Fault::LinkSlicing(LinkSlicing {
        links: links(pattern),
        stream: streams(dice),
        slice_bytes: count(dice, 8, 200),
        variation_bytes: 0,
        delay_us: dice.within(50..=1_000),
    })
}

fn bandwidth(pattern: &str, dice: &mut Dice) -> Fault {
    Fault::LinkBandwidth(LinkBandwidth {
        links: links(pattern),
        stream: streams(dice),
        rate_kb_s: count(dice, 5, 100),
    })
}
