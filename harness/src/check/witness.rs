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
