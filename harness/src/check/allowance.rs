//! L6: what was lost is no more than each layer may lose, as it is configured and as it was broken.
//!
//! A cache that replicates asynchronously may lose what it acknowledged around a failover: a buyer who was granted such a
//! unit is refused later, in the open. Nothing else here may lose anything while only processes die: what they wrote is
//! in the page cache. MySQL that flushes its log once a second is the exception.

use serde::{Deserialize, Serialize};

use super::case::{Case, Checker};
use super::finding::Finding;
use super::ledger::Standing;
use super::purchases::Purchase;
use super::{CheckId, Witness};
use crate::faults::{Fault, FaultEvent, Links};
use crate::figures::count;

/// Replication and the harness's clock are this far apart at most.
const SLACK_MS: u64 = 1_000;
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

    /// Settings that decide what it may lose.
    fn settings(self) -> &'static [&'static str] {
        match self {
            Self::Cache => &[
                "appendfsync",
                "min-replicas-to-write",
                "cluster-node-timeout",
            ],
            Self::Queue => &["flushDiskType", "brokerRole"],
            Self::Store => &[
                "innodb_flush_log_at_trx_commit",
                "sync_binlog",
                "tx_isolation",
            ],
        }
    }

    /// A fault after which it may have lost what it had acknowledged.
    fn is_risked_by(self, fault: &Fault, in_force: &[String]) -> bool {
        let server = |prefix: &str| fault.server().is_some_and(|name| name.starts_with(prefix));
        match self {
            Self::Cache => {
                let deposed = matches!(
                    fault,
                    Fault::RedisPrimaryKill(_)
                        | Fault::RedisPartition(_)
                        | Fault::RedisFailover(_)
                        | Fault::RedisKeyLoss(_)
                        | Fault::CacheStockRaise(_)
                );
                let between = |pattern: &&String| {
                    pattern.contains("redis-bus") || pattern.contains("redis-replication")
                };
                let links = fault.links();
                let cut = links
                    .iter()
                    .flat_map(Links::patterns)
                    .any(|one| between(&one));
                deposed || cut || server("redis-")
            }
            Self::Queue => false,
            Self::Store => {
                let lazy = in_force
                    .iter()
                    .any(|one| one == "innodb_flush_log_at_trx_commit 0");
                let killed = matches!(fault, Fault::ServerKill(_)) && server("mysql");
                lazy && (killed || matches!(fault, Fault::MysqlCommitKill(_)))
            }
        }
    }
}

/// All layers, with what a run of this configuration and these faults may have lost.
pub fn losses(case: &Case<'_>) -> Vec<Loss> {
    Layer::ALL.map(|layer| loss(case, layer)).into()
}

fn loss(case: &Case<'_>, layer: Layer) -> Loss {
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
    let accepted = case.accepted();
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
fn lost_in(purchase: &Purchase, standing: Option<Standing>) -> Option<Layer> {
    let was_stored =
        !purchase.told.is_empty() || purchase.paid_ns.is_some() || purchase.cancelled_ns.is_some();
    match standing {
        Some(Standing::BrokenPromise) => Some(Layer::Cache),
        Some(_) => None,
        None if was_stored => Some(Layer::Store),
        None => Some(Layer::Queue),
    }
}

/// The layer's settings, each value once.
fn in_force(case: &Case<'_>, layer: Layer) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for (name, value) in &case.evidence.guarantees {
        let setting = name.rsplit(' ').next().unwrap_or(name);
        if layer.settings().contains(&setting) {
            words.push(format!("{setting} {value}"));
        }
    }
    words.sort_unstable();
    words.dedup();
    words
}

pub struct Allowance;

impl Checker for Allowance {
    fn id(&self) -> CheckId {
        CheckId::L6
    }

    fn title(&self) -> &'static str {
        "Losses within what the configuration allows, layer by layer"
    }

    fn judge(&self, case: &Case<'_>) -> Finding {
        let mut finding = Finding::default();
        case.doubt_unless_read(&mut finding);
        if case.evidence.guarantees.is_empty() {
            finding.doubt("the servers' settings were not read".to_owned());
        }
        if finding.has_doubts() || !case.is_complete() {
            return finding;
        }
        for one in losses(case) {
            if one.seen > one.allowed {
                let beyond = one.seen - one.allowed;
                finding.violation_of(beyond, "layer that lost more than it may", || {
                    witness(case, &one)
                });
            }
            let [seen, allowed] = [one.seen, one.allowed].map(count);
            finding.fact(format!(
                "{} lost {seen}, at most {allowed}",
                one.layer.name()
            ));
        }
        finding
    }
}

/// The first purchase that the layer lost.
fn witness(case: &Case<'_>, loss: &Loss) -> Witness {
    let accepted = case.accepted();
    let lost = accepted
        .iter()
        .find(|(one, standing)| lost_in(one, *standing) == Some(loss.layer));
    let text = format!(
        "the {} lost {} like it; {} allowed: {} ({})",
        loss.layer.name(),
        count(loss.seen),
        count(loss.allowed),
        loss.because,
        loss.in_force.join(", ")
    );
    match lost {
        Some((purchase, _)) => case.witness(purchase.key, text),
        None => Witness {
            subject: loss.layer.name().to_owned(),
            events: vec![text],
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict::{Fail, Inconclusive, Pass};
    use super::super::tiny_history::{Tiny, assert_verdicts, unread};
    use super::*;
    use crate::drill::range::Count;
    use crate::faults::{CacheStockRaise, MysqlCommitKill, PlannedFault, RedisFailover};
    use crate::history::final_state::OrderState::Created;

    fn broken(tiny: Tiny, fault: Fault, at_ms: u64, healed_at_ms: Option<u64>) -> Tiny {
        tiny.with(|e| {
            let planned = PlannedFault {
                at_ms,
                for_ms: None,
                fault,
            };
            let event = FaultEvent {
                injected_at_ms: at_ms,
                healed_at_ms,
                receipt: Some("seen".to_owned()),
                ..FaultEvent::planned(&planned)
            };
            e.plan.faults.push(planned);
            e.faults.push(event);
        })
    }

    fn failover(tiny: Tiny, at_ms: u64) -> Tiny {
        let sku = Count::new(1).unwrap();
        let fault = Fault::RedisFailover(RedisFailover { sku });
        broken(tiny, fault, at_ms, Some(at_ms + 500))
    }

    fn promise_broken() -> Tiny {
        Tiny::sale(3)
            .bought(1)
            .accepted(2)
            .rejected(2, "stock_exhausted")
    }

    #[test]
    fn what_may_be_lost_passes() {
        let raise = Fault::CacheStockRaise(CacheStockRaise {
            sku: Count::new(1).unwrap(),
            units: Count::new(1).unwrap(),
        });
        assert_verdicts(
            CheckId::L6,
            vec![
                ("nothing lost", Tiny::sale(3).bought(1), Pass),
                (
                    "a promise broken around a failover",
                    failover(promise_broken(), 0),
                    Pass,
                ),
                (
                    "a promise broken since the cache was told that there is more",
                    broken(promise_broken(), raise, 0, None),
                    Pass,
                ),
                (
                    "lost with a log that is flushed once a second",
                    broken(
                        Tiny::sale(3).bought(1).accepted(2).told(2, Created),
                        Fault::MysqlCommitKill(MysqlCommitKill {}),
                        0,
                        Some(100),
                    )
                    .with(|e| {
                        let name = "mysql innodb_flush_log_at_trx_commit".to_owned();
                        e.guarantees.insert(name, "0".to_owned());
                    }),
                    Pass,
                ),
            ],
        );
    }

    #[test]
    fn more_than_allowed_fails() {
        let killed = Fault::MysqlCommitKill(MysqlCommitKill {});
        assert_verdicts(
            CheckId::L6,
            vec![
                ("a promise broken and no fault", promise_broken(), Fail),
                (
                    "long before the failover",
                    failover(promise_broken(), 30_000),
                    Fail,
                ),
                ("lost on its way", Tiny::sale(3).bought(1).accepted(2), Fail),
                (
                    "lost with a log that every commit waits for",
                    broken(
                        Tiny::sale(3).bought(1).accepted(2).told(2, Created),
                        killed,
                        0,
                        Some(100),
                    ),
                    Fail,
                ),
                (
                    "a failover loses no stored order",
                    failover(Tiny::sale(3).bought(1).accepted(2).told(2, Created), 0),
                    Fail,
                ),
            ],
        );
        let result = failover(promise_broken(), 30_000).check(CheckId::L6);
        assert!(
            result.detail.contains("cache lost 1, at most 0"),
            "{}",
            result.detail
        );
        let events = result.witnesses[0].witness.events.join("\n");
        assert!(events.contains("cluster-node-timeout 1000"), "{events}");
    }

    #[test]
    fn without_stores_or_settings_nothing_is_known() {
        assert_verdicts(
            CheckId::L6,
            vec![
                (
                    "settings not read",
                    Tiny::sale(3).bought(1).with(|e| e.guarantees.clear()),
                    Inconclusive,
                ),
                (
                    "stores not read",
                    Tiny::sale(3)
                        .bought(1)
                        .with(|e| unread(&mut e.stores.end, "orders: gone")),
                    Inconclusive,
                ),
            ],
        );
    }
}
