//! What each layer lost, and what it may have lost as it is configured and as it was broken.
//!
//! A cache that replicates asynchronously may lose what it acknowledged around a failover: a buyer who was granted such a
//! unit is refused later, in the open. Nothing else here may lose anything while only processes die: what they wrote is
//! in the page cache. MySQL that flushes its log once a second is the exception.

use serde::{Deserialize, Serialize};

use super::case::Case;
use super::ledger::Standing;
use super::purchases::Purchase;
use crate::environment::links::Layout;
use crate::faults::{Fault, FaultEvent};
use crate::figures::count;

/// Replication and the harness's clock are this far apart at most.
pub(super) const SLACK_MS: u64 = 1_000;
/// MySQL's background flush, where commits do not wait for it.
const FLUSH_EVERY_MS: u64 = 1_000;

/// Where an accepted purchase can be lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// Broken promises: granted by the cache, refused by the store.
    Cache,
    /// Accepted, and in no store.
    Queue,
    /// Told to the buyer as it stood in the store, and not there any more.
    Store,
}

/// One layer: what it may have lost and what it lost, in purchases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    pub layer: Layer,
    pub allowed: u64,
    pub seen: u64,
    /// Why so many are allowed.
    pub because: String,
    /// The configuration in force that decides it.
    pub in_force: Vec<String>,
}

impl Layer {
    pub const ALL: [Self; 3] = [Self::Cache, Self::Queue, Self::Store];

    pub fn name(self) -> &'static str {
        match self {
            Self::Cache => "cache",
            Self::Queue => "queue",
            Self::Store => "store",
        }
    }

    /// Its servers hold the truth of it; the settings of others decide nothing.
    fn is_kept_by(self, server: &str) -> bool {
        match self {
            Self::Cache => server.starts_with("redis-"),
            Self::Queue => server == "rocketmq-broker",
            Self::Store => server == "mysql",
        }
    }

    /// A fault after which it may have lost what it had acknowledged.
    fn is_risked_by(self, fault: &Fault, in_force: &[String]) -> bool {
        let hits_its_server = fault.server().is_some_and(|name| self.is_kept_by(&name));
        match self {
            Self::Cache => {
                let deposed = matches!(
                    fault,
                    Fault::RedisPrimaryKill(_)
                        | Fault::RedisPartition(_)
                        | Fault::RedisFailover(_)
                        | Fault::RedisReplicationCut(_)
                        | Fault::RedisKeyLoss(_)
                        | Fault::CacheStockRaise(_)
                );
                let parted = fault.links().is_some_and(|links| {
                    let mut between = Layout::OURS.between_redis_nodes();
                    between.any(|name| links.hit(&name))
                });
                deposed || parted || hits_its_server
            }
            Self::Queue => false,
            Self::Store => {
                let lazy = in_force
                    .iter()
                    .any(|one| one == "innodb_flush_log_at_trx_commit 0");
                let killed = matches!(fault, Fault::ServerKill(_)) && hits_its_server;
                lazy && (killed || matches!(fault, Fault::MysqlCommitKill(_)))
            }
        }
    }
}

/// All layers, with what a run of this configuration and these faults may have lost.
pub fn losses(case: &Case<'_>) -> Vec<Loss> {
    let accepted = case.accepted();
    Layer::ALL.map(|layer| loss(case, &accepted, layer)).into()
}

fn loss(case: &Case<'_>, accepted: &[(&Purchase, Option<Standing>)], layer: Layer) -> Loss {
    let in_force = in_force(case, layer);
    let plan = &case.evidence.plan;
    // Events stand in the order of the plan.
    let broken = plan.faults.iter().zip(&case.evidence.faults);
    let risky: Vec<&FaultEvent> = broken
        .filter(|(planned, _)| layer.is_risked_by(&planned.fault, &in_force))
        .map(|(_, event)| event)
        .collect();
    let at_risk = |purchase: &Purchase| {
        let at = purchase.accepted_ns.map(|ns| ns / 1_000_000);
        at.is_some_and(|at_ms| {
            risky
                .iter()
                .any(|event| window(layer, event).contains(&at_ms))
        })
    };
    let at_risk = accepted.iter().filter(|(one, _)| at_risk(one)).count() as u64;
    let raised: u64 = plan
        .faults
        .iter()
        .map(|planned| raised_units(&planned.fault))
        .sum();
    let raised = if layer == Layer::Cache { raised } else { 0 };
    let lost = accepted
        .iter()
        .filter(|(one, standing)| lost_in(one, *standing) == Some(layer));
    Loss {
        layer,
        allowed: at_risk + raised,
        seen: lost.count() as u64,
        because: because(&risky, at_risk, raised),
        in_force,
    }
}

/// When a layer may have acknowledged what was lost, ms.
fn window(layer: Layer, event: &FaultEvent) -> std::ops::Range<u64> {
    let before_ms = match layer {
        Layer::Cache | Layer::Queue => SLACK_MS,
        Layer::Store => FLUSH_EVERY_MS + SLACK_MS,
    };
    let from_ms = event.injected_at_ms.saturating_sub(before_ms);
    let to_ms = match (event.heals, event.healed_at_ms) {
        (true, Some(healed_at_ms)) => healed_at_ms,
        (true, None) => u64::MAX - SLACK_MS,
        (false, _) => event.injected_at_ms,
    };
    from_ms..to_ms + SLACK_MS
}

/// A wrong repair sells units that there are not.
fn raised_units(fault: &Fault) -> u64 {
    match fault {
        Fault::CacheStockRaise(raise) => raise.units.get().into(),
        _ => 0,
    }
}

fn because(risky: &[&FaultEvent], at_risk: u64, raised: u64) -> String {
    let mut parts = Vec::new();
    if !risky.is_empty() {
        let kinds: Vec<&str> = risky.iter().map(|event| event.kind.as_str()).collect();
        let at_risk = count(at_risk);
        parts.push(format!(
            "{at_risk} were accepted around {}",
            kinds.join(", ")
        ));
    }
    if raised > 0 {
        parts.push(format!("{} units were added to the cache", count(raised)));
    }
    if parts.is_empty() {
        return "no fault puts it at risk".to_owned();
    }
    parts.join("; ")
}

/// Which layer lost an accepted purchase; None: it stands, or was given back.
pub fn lost_in(purchase: &Purchase, standing: Option<Standing>) -> Option<Layer> {
    let was_stored =
        !purchase.told.is_empty() || purchase.paid_ns.is_some() || purchase.cancelled_ns.is_some();
    match standing {
        Some(Standing::BrokenPromise) => Some(Layer::Cache),
        Some(_) => None,
        None if was_stored => Some(Layer::Store),
        None => Some(Layer::Queue),
    }
}

/// The settings of the layer's servers, each value once.
fn in_force(case: &Case<'_>, layer: Layer) -> Vec<String> {
    let named = case.evidence.guarantees.iter();
    let of_layer = named.filter_map(|(name, value)| {
        let (server, setting) = name.split_once(' ')?;
        layer
            .is_kept_by(server)
            .then(|| format!("{setting} {value}"))
    });
    let mut words: Vec<String> = of_layer.collect();
    words.sort_unstable();
    words.dedup();
    words
}
