//! How attempts ended, counted by kind, outcome and reason.

use std::collections::BTreeMap;

use crate::history::operation::{Operation, OperationKind, Outcome};

use super::mapping::Meaning;

const KINDS: [OperationKind; 4] = [
    OperationKind::Buy,
    OperationKind::Status,
    OperationKind::Pay,
    OperationKind::Cancel,
];
const OUTCOMES: [Outcome; 3] = [Outcome::Accepted, Outcome::Refused, Outcome::Unknown];

/// Counters laid out flat, so that counting is one addition.
#[derive(Debug)]
pub struct Tally {
    reasons: Vec<String>,
    /// By kind, outcome, reason.
    counts: Vec<u64>,
    /// Follow-ups that were never sent, by kind: for want of a connection, of memory.
    dropped: [u64; KINDS.len()],
    not_planned: [u64; KINDS.len()],
    /// Answers to buys by HTTP status; the first place is for no answer, the last for statuses beyond the standard's.
    statuses: Vec<u64>,
}

/// HTTP statuses end below this.
const STATUS_END: u16 = 600;

impl Tally {
    pub fn new(reasons: Vec<String>) -> Self {
        Self {
            counts: vec![0; KINDS.len() * OUTCOMES.len() * reasons.len()],
            reasons,
            dropped: [0; KINDS.len()],
            not_planned: [0; KINDS.len()],
            statuses: vec![0; usize::from(STATUS_END) + 1],
        }
    }

    pub fn count(&mut self, operation: &Operation, meaning: Meaning) {
        let at = self.place(operation.kind, meaning.outcome, usize::from(meaning.reason));
        self.counts[at] += 1;
        if operation.kind == OperationKind::Buy {
            self.statuses[usize::from(operation.status.min(STATUS_END))] += 1;
        }
    }

    /// Answers to buys, by status.
    pub fn statuses(&self) -> BTreeMap<String, u64> {
        (0_u16..)
            .zip(&self.statuses)
            .skip(1)
            .filter(|(_, count)| **count > 0)
            .map(|(status, count)| (status.to_string(), *count))
            .collect()
    }

    pub fn drop_follow_up(&mut self, kind: OperationKind) {
        self.dropped[kind as usize] += 1;
    }

    pub fn not_planned(&mut self, kind: OperationKind) {
        self.not_planned[kind as usize] += 1;
    }

    fn place(&self, kind: OperationKind, outcome: Outcome, reason: usize) -> usize {
        (kind as usize * OUTCOMES.len() + outcome as usize) * self.reasons.len() + reason
    }

    /// Buys: `accepted`, `refused:<reason>`, `unknown:<reason>`.
    pub fn buys(&self) -> BTreeMap<String, u64> {
        let mut out = BTreeMap::new();
        for outcome in OUTCOMES {
            for (reason, text) in self.reasons.iter().enumerate() {
                let count = self.counts[self.place(OperationKind::Buy, outcome, reason)];
                if count > 0 {
                    *out.entry(named(outcome, text)).or_default() += count;
                }
            }
        }
        out
    }

    /// Follow-ups: `pay:accepted`, `cancel:refused`, `status:dropped`,
    /// `status:not_planned`, ...
    pub fn follow_ups(&self) -> BTreeMap<String, u64> {
        let mut out = BTreeMap::new();
        for kind in KINDS.into_iter().filter(|kind| *kind != OperationKind::Buy) {
            for outcome in OUTCOMES {
                let from = self.place(kind, outcome, 0);
                let count = self.counts[from..from + self.reasons.len()].iter().sum();
                add(&mut out, kind, outcome_name(outcome), count);
            }
            add(&mut out, kind, "dropped", self.dropped[kind as usize]);
            let not_planned = self.not_planned[kind as usize];
            add(&mut out, kind, "not_planned", not_planned);
        }
        out
    }
}

fn add(out: &mut BTreeMap<String, u64>, kind: OperationKind, end: &str, count: u64) {
    if count > 0 {
        out.insert(format!("{}:{end}", kind_name(kind)), count);
    }
}

fn named(outcome: Outcome, reason: &str) -> String {
    match outcome {
        Outcome::Accepted => outcome_name(outcome).to_owned(),
        Outcome::Refused | Outcome::Unknown => format!("{}:{reason}", outcome_name(outcome)),
    }
}

fn outcome_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Accepted => "accepted",
        Outcome::Refused => "refused",
        Outcome::Unknown => "unknown",
    }
}

fn kind_name(kind: OperationKind) -> &'static str {
    match kind {
        OperationKind::Buy => "buy",
        OperationKind::Status => "status",
        OperationKind::Pay => "pay",
        OperationKind::Cancel => "cancel",
    }
}
