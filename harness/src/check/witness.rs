//! The chain of events of one purchase in words, in the order of time.

use super::Witness;
use super::case::Case;
use super::purchases::Purchase;
use crate::history::final_state::OrderRow;
use crate::history::operation::Operation;
use crate::history::words::{self, at};
use crate::load::population::request_id;

impl Case<'_> {
    /// Everything known about one purchase: its attempts, the faults around them, its orders.
    pub fn witness(&self, key: u64, conclusion: String) -> Witness {
        let subject = format!("request {}", request_id(self.evidence.plan.seed, key));
        Witness {
            subject,
            events: self.chain(key, conclusion),
        }
    }

    /// The same of a purchase of which the history keeps only this attempt.
    pub fn witness_of(&self, attempt: &Operation, conclusion: String) -> Witness {
        if self.purchases.get(attempt.key).is_some() {
            return self.witness(attempt.key, conclusion);
        }
        Witness {
            subject: format!(
                "request {}",
                request_id(self.evidence.plan.seed, attempt.key)
            ),
            events: vec![self.attempt(attempt), conclusion],
        }
    }

    /// The events of one purchase, `conclusion` last.
    pub fn chain(&self, key: u64, conclusion: String) -> Vec<String> {
        let mut timed = Vec::new();
        if let Some(purchase) = self.purchases.get(key) {
            timed.extend(
                purchase
                    .attempts
                    .iter()
                    .map(|one| (one.sent_ns, self.attempt(one))),
            );
            timed.extend(self.faults_during(purchase));
        }
        timed.sort();
        let mut events: Vec<String> = timed.into_iter().map(|(_, text)| text).collect();
        if events.is_empty() {
            events.push("the history knows no attempt that could have made it".to_owned());
        }
        let rows = self.ledger.rows(key);
        events.extend(
            rows.iter()
                .map(|row| format!("at rest: the store holds {}", order(row))),
        );
        if rows.is_empty() {
            events.push("at rest: the store holds no order for it".to_owned());
        }
        events.push(conclusion);
        events
    }

    /// Faults that began after the purchase did, or were not healed when it began.
    fn faults_during(&self, purchase: &Purchase) -> Vec<(u64, String)> {
        let began_ms = purchase
            .attempts
            .first()
            .map_or(0, |one| one.sent_ns / 1_000_000);
        let mut out = Vec::new();
        for fault in &self.evidence.faults {
            if fault.healed_at_ms.is_some_and(|healed| healed < began_ms) {
                continue;
            }
            let injected = fault.injected_at_ms * 1_000_000;
            out.push((
                injected,
                format!("{} fault {}: {}", at(injected), fault.kind, fault.what),
            ));
            if let Some(healed) = fault.healed_at_ms.map(|ms| ms * 1_000_000) {
                out.push((
                    healed,
                    format!("{} fault {} healed", at(healed), fault.kind),
                ));
            }
        }
        out
    }

    fn attempt(&self, one: &Operation) -> String {
        let reason = self.evidence.reasons.get(usize::from(one.reason));
        words::attempt(one, self.sku(one.sku), reason.map_or("", String::as_str))
    }
}

/// An order in words.
pub fn order(row: &OrderRow) -> String {
    let state = row.state.name();
    let reason = if row.reason.is_empty() {
        String::new()
    } else {
        format!(" ({})", row.reason)
    };
    format!(
        "order {} of {}, {} of {}, {state}{reason}",
        row.order_id, row.user, row.quantity, row.sku
    )
}

#[cfg(test)]
mod tests {
    use super::super::CheckId::{L1, L5, S6};
    use super::super::tiny_history::{SEED, Tiny, broker_killed};
    use super::*;
    use crate::faults::FaultEvent;
    use crate::history::final_state::OrderState::Created;
    use crate::load::population::user_id;

    /// The last click is sent so many milliseconds after the first arrival, and answered 1 ms later.
    fn at(tiny: Tiny, ms: u64) -> Tiny {
        tiny.but(|one| {
            one.sent_ns = ms * 1_000_000;
            one.completed_ns = one.sent_ns + 1_000_000;
        })
    }

    #[test]
    fn faults_stand_among_the_attempts_unless_they_were_over_before() {
        let lost = at(Tiny::sale(3).bought(1).accepted(2), 2_000);
        let lost = lost.with(|e| {
            let unhealed = FaultEvent {
                healed_at_ms: None,
                ..broker_killed(3_000, 0)
            };
            e.faults = vec![
                broker_killed(500, 1_999),
                broker_killed(1_000, 2_000),
                unhealed,
            ];
        });
        let witness = lost.check(L1).witnesses.remove(0).witness;
        let buys = format!(
            "+2.000 s {} buys 1 of s0: accepted, order o2 after 1.0 ms (node 0, fault epoch 0)",
            user_id(2)
        );
        assert_eq!(
            witness.events,
            [
                "+1.000 s fault broker_kill: broker",
                "+2.000 s fault broker_kill healed",
                buys.as_str(),
                "+3.000 s fault broker_kill: broker",
                "at rest: the store holds no order for it",
                "the queue is empty: the order is lost",
            ]
        );
    }

    #[test]
    fn an_order_that_nobody_asked_for_has_no_attempt() {
        let unasked = Tiny::sale(3).bought(1).order(2, Created);
        let witness = unasked.check(S6).witnesses.remove(0).witness;
        assert_eq!(
            witness.events,
            [
                "the history knows no attempt that could have made it".to_owned(),
                format!(
                    "at rest: the store holds order o2 of {}, 1 of s0, created",
                    user_id(2)
                ),
                "nobody sent this request id".to_owned(),
            ]
        );
    }

    #[test]
    fn a_refusal_that_is_only_counted_is_told_by_itself() {
        let out = |tiny: Tiny| {
            at(tiny, 9_000).with(|e| {
                e.plan.expect.recover_ms_max = 1_000;
                e.faults.push(broker_killed(1_000, 2_000));
            })
        };
        let events = |tiny: Tiny| tiny.check(L5).witnesses.remove(0).witness;
        let refused = events(out(Tiny::sale(3).bought(1).refused(2, "paused")));
        assert_eq!(refused.subject, format!("request {}", request_id(SEED, 2)));
        let said = format!(
            "+9.000 s {} buys 1 of s0: refused (paused) after 1.0 ms (node 0, fault epoch 0)",
            user_id(2)
        );
        assert_eq!(
            refused.events,
            [
                said.as_str(),
                "every fault so far had been healed for more than 1.0 s"
            ]
        );
        let kept = events(out(Tiny::sale(3).bought(2).unknown(2)));
        assert!(
            kept.events.iter().any(|one| one.contains("holds order o2")),
            "{kept:#?}"
        );
    }
}
