//! L6: no layer lost more than it may.

use super::case::{Case, Checker};
use super::finding::Finding;
use super::losses::{Loss, losses, lost_in};
use super::{CheckId, Witness};
use crate::figures::count;

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
        if finding.has_doubts() {
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
    use super::super::Place;
    use super::super::Verdict::{Fail, Inconclusive, Pass};
    use super::super::losses::{Layer, SLACK_MS};
    use super::super::tiny_history::{SEED, Tiny, assert_verdicts, unread};
    use super::*;
    use crate::drill::range::Count;
    use crate::faults::{
        BrokerKill, CacheStockRaise, Fault, FaultEvent, LinkDown, Links, LostKey, MysqlCommitKill,
        PlannedFault, RedisFailover, RedisKeyLoss, RedisPartition, RedisPrimaryKill,
        RedisReplicationCut, ServerKill, ServerName, ServerPause,
    };
    use crate::history::final_state::OrderState::Created;
    use crate::load::population::request_id;

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

    fn one() -> Count {
        Count::new(1).unwrap()
    }

    fn failover(tiny: Tiny, at_ms: u64) -> Tiny {
        let fault = Fault::RedisFailover(RedisFailover { sku: one() });
        broken(tiny, fault, at_ms, Some(at_ms + 500))
    }

    fn killed(server: &str) -> Fault {
        let server = ServerName::new(server.to_owned()).unwrap();
        Fault::ServerKill(ServerKill { server, sku: one() })
    }

    fn paused(server: &str) -> Fault {
        let server = ServerName::new(server.to_owned()).unwrap();
        Fault::ServerPause(ServerPause { server, sku: one() })
    }

    fn down(link: &str) -> Fault {
        let links = Links::new(vec![link.to_owned()]).unwrap();
        Fault::LinkDown(LinkDown { links })
    }

    /// The last click is answered so many milliseconds after the first arrival.
    fn answered_at(tiny: Tiny, ms: u64) -> Tiny {
        tiny.but(|one| {
            one.sent_ns = ms * 1_000_000;
            one.completed_ns = one.sent_ns;
        })
    }

    /// An order that was stored is gone after this; `lazy` flushes its log once a second.
    fn gone_after(fault: Fault, lazy: Option<&str>) -> Tiny {
        let tiny = Tiny::sale(3).bought(1).accepted(2).told(2, Created);
        broken(tiny, fault, 0, Some(100)).with(|e| {
            let name = |server| format!("{server} innodb_flush_log_at_trx_commit");
            e.guarantees
                .extend(lazy.map(|server| (name(server), "0".to_owned())));
        })
    }

    fn commit_killed() -> Fault {
        Fault::MysqlCommitKill(MysqlCommitKill {})
    }

    fn stored_and_gone(lazy: Option<&str>) -> Tiny {
        gone_after(commit_killed(), lazy)
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
            sku: one(),
            units: one(),
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
                    stored_and_gone(Some("mysql")),
                    Pass,
                ),
            ],
        );
    }

    /// A failover from 30 s to 30.5 s.
    #[test]
    fn a_promise_is_at_risk_from_a_little_before_the_fault_to_a_little_after_its_heal() {
        let accepted_at = |ms: u64| {
            let late = answered_at(Tiny::sale(3).bought(1).accepted(2), ms);
            failover(late.rejected(2, "stock_exhausted"), 30_000)
        };
        assert_verdicts(
            CheckId::L6,
            vec![
                ("too early", accepted_at(30_000 - SLACK_MS - 1), Fail),
                ("a little before", accepted_at(30_000 - SLACK_MS), Pass),
                ("a little after", accepted_at(30_499 + SLACK_MS), Pass),
                ("too late", accepted_at(30_500 + SLACK_MS), Fail),
            ],
        );
    }

    #[test]
    fn a_fault_that_is_not_healed_puts_at_risk_what_comes_after_and_a_change_of_state_does_not() {
        let accepted_at = |ms: u64, fault: Fault| {
            let late = answered_at(Tiny::sale(3).bought(1).accepted(2), ms);
            broken(late.rejected(2, "stock_exhausted"), fault, 30_000, None)
        };
        let unhealed = |ms| accepted_at(ms, Fault::RedisFailover(RedisFailover { sku: one() }));
        let key_loss = |ms| {
            let (sku, key) = (one(), LostKey::Available);
            accepted_at(ms, Fault::RedisKeyLoss(RedisKeyLoss { sku, key }))
        };
        assert_verdicts(
            CheckId::L6,
            vec![
                ("not healed, too early", unhealed(28_999), Fail),
                ("not healed, long after", unhealed(59_000), Pass),
                ("state changed, a little before", key_loss(29_000), Pass),
                ("state changed, a little after", key_loss(30_999), Pass),
                ("state changed, too late", key_loss(31_000), Fail),
            ],
        );
    }

    /// MySQL is killed at 30 s and is back at 30.1 s; it flushed last a second before the kill.
    #[test]
    fn a_lazy_log_puts_at_risk_what_it_had_not_flushed() {
        let accepted_at = |ms: u64| {
            let late = answered_at(Tiny::sale(3).bought(1).accepted(2), ms).told(2, Created);
            broken(late, commit_killed(), 30_000, Some(30_100)).with(|e| {
                let name = "mysql innodb_flush_log_at_trx_commit".to_owned();
                e.guarantees.insert(name, "0".to_owned());
            })
        };
        assert_verdicts(
            CheckId::L6,
            vec![
                ("flushed for sure", accepted_at(27_999), Fail),
                ("perhaps not flushed", accepted_at(28_000), Pass),
                ("a little after", accepted_at(31_099), Pass),
                ("too late", accepted_at(31_100), Fail),
            ],
        );
    }

    #[test]
    fn promises_are_excused_by_what_can_depose_a_primary_and_by_nothing_else() {
        let after = |fault: Fault| broken(promise_broken(), fault, 0, Some(100));
        let sku = one();
        let cut_replication_ms = 500;
        let kill = RedisPrimaryKill {
            sku,
            cut_replication_ms,
        };
        let partition = RedisPartition { sku };
        let replication = RedisReplicationCut { sku };
        let cut_requests_ms = 0;
        let broker = BrokerKill { cut_requests_ms };
        assert_verdicts(
            CheckId::L6,
            vec![
                ("primary killed", after(Fault::RedisPrimaryKill(kill)), Pass),
                ("cut off", after(Fault::RedisPartition(partition)), Pass),
                ("the cluster's bus down", after(down("redis-bus-*")), Pass),
                ("replication down", after(down("redis-replication-2")), Pass),
                (
                    "all of Redis's own links down",
                    after(down("redis-*")),
                    Pass,
                ),
                ("all links down", after(down("*")), Pass),
                (
                    "replication cut",
                    after(Fault::RedisReplicationCut(replication)),
                    Pass,
                ),
                ("MySQL's replication down", after(down("mysql-*")), Fail),
                ("a node killed", after(killed("redis-0")), Pass),
                ("a node paused", after(paused("redis-primary")), Pass),
                (
                    "a client's link down",
                    after(down("service-0-redis-1")),
                    Fail,
                ),
                ("MySQL killed", after(killed("mysql")), Fail),
                ("broker killed", after(Fault::BrokerKill(broker)), Fail),
            ],
        );
    }

    #[test]
    fn only_the_death_of_a_mysql_with_a_lazy_log_excuses_a_stored_order() {
        let after = |fault: Fault| gone_after(fault, Some("mysql"));
        assert_verdicts(
            CheckId::L6,
            vec![
                ("killed", after(killed("mysql")), Pass),
                ("paused", after(paused("mysql")), Fail),
                ("its replica killed", after(killed("mysql-replica")), Fail),
                ("a Redis node killed", after(killed("redis-0")), Fail),
                (
                    "killed with a log that every commit waits for",
                    gone_after(killed("mysql"), None),
                    Fail,
                ),
            ],
        );
    }

    #[test]
    fn tells_what_each_layer_lost_and_why_it_may() {
        let raise = CacheStockRaise {
            sku: one(),
            units: Count::new(3).unwrap(),
        };
        let tiny = promise_broken()
            .accepted(3)
            .rejected(3, "stock_exhausted")
            .accepted(4);
        let tiny = failover(broken(tiny, Fault::CacheStockRaise(raise), 0, None), 0);
        let tiny = tiny.with(|e| {
            let settings = [
                ("redis-1 cluster-node-timeout", "1000"),
                ("redis-1 appendonly", "no"),
                ("rocketmq-broker flushDiskType", "ASYNC_FLUSH"),
                ("rocketmq-namesrv enableTopicList", "true"),
                ("mysql-replica sync_binlog", "0"),
            ];
            let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
            e.guarantees.extend(settings);
        });
        let loss = |layer, allowed, seen, because: &str, in_force: &[&str]| Loss {
            layer,
            allowed,
            seen,
            because: because.to_owned(),
            in_force: in_force.iter().map(|&one| one.to_owned()).collect(),
        };
        let safe = "no fault puts it at risk";
        assert_eq!(
            tiny.judge(&[CheckId::L6]).losses,
            [
                loss(
                    Layer::Cache,
                    7,
                    2,
                    "4 were accepted around cache_stock_raise, redis_failover; \
                     3 units were added to the cache",
                    &["appendonly no", "cluster-node-timeout 1000"]
                ),
                loss(Layer::Queue, 0, 1, safe, &["flushDiskType ASYNC_FLUSH"]),
                loss(
                    Layer::Store,
                    0,
                    0,
                    safe,
                    &["innodb_flush_log_at_trx_commit 1"]
                ),
            ]
        );
    }

    #[test]
    fn more_than_allowed_fails() {
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
                    stored_and_gone(None),
                    Fail,
                ),
                (
                    "lost while only the replica's log is flushed once a second",
                    stored_and_gone(Some("mysql-replica")),
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

    #[test]
    fn the_worst_is_the_layer_that_lost_most_beyond_what_it_may() {
        let raise = CacheStockRaise {
            sku: one(),
            units: one(),
        };
        let promises = (2..=4).fold(Tiny::sale(9).bought(1), |tiny, key| {
            tiny.accepted(key).rejected(key, "stock_exhausted")
        });
        let lost = (5..=7).fold(promises, Tiny::accepted);
        let raised = broken(lost, Fault::CacheStockRaise(raise), 30_000, None);
        let result = raised.check(CheckId::L6);
        assert!(
            result.detail.contains("cache lost 3, at most 1"),
            "{}",
            result.detail
        );
        let subject = |key| format!("request {}", request_id(SEED, key));
        let witnesses = result.witnesses.iter();
        let kept = witnesses.map(|one| (one.place, one.witness.subject.clone()));
        assert_eq!(
            kept.collect::<Vec<_>>(),
            [(Place::First, subject(2)), (Place::Worst, subject(5))]
        );
        let events = result.witnesses[1].witness.events.join("\n");
        assert!(
            events.contains("the queue lost 3 like it; 0 allowed"),
            "{events}"
        );
    }
}
