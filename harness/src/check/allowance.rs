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
    use super::super::Verdict::{Fail, Inconclusive, Pass};
    use super::super::losses::SLACK_MS;
    use super::super::tiny_history::{Tiny, assert_verdicts, unread};
    use super::*;
    use crate::drill::range::Count;
    use crate::faults::{
        CacheStockRaise, Fault, FaultEvent, MysqlCommitKill, PlannedFault, RedisFailover,
    };
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

    /// An order that was stored is gone after a kill of MySQL; `lazy` flushes its log once a second.
    fn stored_and_gone(lazy: Option<&str>) -> Tiny {
        let tiny = Tiny::sale(3).bought(1).accepted(2).told(2, Created);
        let killed = Fault::MysqlCommitKill(MysqlCommitKill {});
        broken(tiny, killed, 0, Some(100)).with(|e| {
            let name = |server| format!("{server} innodb_flush_log_at_trx_commit");
            e.guarantees
                .extend(lazy.map(|server| (name(server), "0".to_owned())));
        })
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
            let tiny = Tiny::sale(3).bought(1).accepted(2);
            let late = tiny.but(|one| {
                one.sent_ns = ms * 1_000_000;
                one.completed_ns = one.sent_ns;
            });
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
}
