//! One attempt in words: what a buyer asked for, and what came of it.

use super::operation::{Operation, OperationKind, Outcome};
use crate::load::population::user_id;

/// `+0.010 s u000000000001 buys 1 of sku-01: refused (sold_out) after 0.2 ms (node 0, fault epoch 1)`; `reason`
/// is the name of the operation's.
pub fn attempt(one: &Operation, sku: &str, reason: &str) -> String {
    let who = user_id(one.user);
    let asked = match one.kind {
        OperationKind::Buy if one.attempt > 0 => {
            let click = u16::from(one.attempt) + 1;
            format!("{who} buys {} of {sku}, click {click}", one.quantity)
        }
        OperationKind::Buy => format!("{who} buys {} of {sku}", one.quantity),
        OperationKind::Pay => format!("{who} pays"),
        OperationKind::Cancel => format!("{who} cancels"),
        OperationKind::Status => format!("{who} asks for the state"),
    };
    let took_us = one.completed_ns.saturating_sub(one.sent_ns) / 1_000;
    let took_ms = took_us as f64 / 1_000.0;
    let sent = at(one.sent_ns);
    format!(
        "{sent} {asked}: {} after {took_ms:.1} ms (node {}, fault epoch {})",
        answer(one, reason),
        one.node,
        one.fault_epoch
    )
}

fn answer(one: &Operation, reason: &str) -> String {
    let order = one.order_id.as_deref();
    let order = order.map(|id| format!(", order {id}")).unwrap_or_default();
    let told = one.told.map(|state| format!(", told {}", state.name()));
    let told = told.unwrap_or_default();
    match one.outcome {
        Outcome::Accepted => format!("accepted{order}{told}"),
        Outcome::Refused => format!("refused ({reason}{told})"),
        Outcome::Unknown => format!("outcome unknown ({reason})"),
    }
}

/// Seconds since the first arrival.
pub fn at(ns: u64) -> String {
    format!("+{:.3} s", ns as f64 / 1e9)
}
