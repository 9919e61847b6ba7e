//! Counters of the service, registered once; a hot path only adds to an atomic number.

use metrics::{Counter, counter, describe_counter};
use metrics_exporter_prometheus::{BuildError, PrometheusBuilder, PrometheusHandle};

use crate::gateway::reason::Reason;
use crate::queue::Decision;
use crate::store::ReadFrom;

/// Installs the process's recorder. To be called before [`Metrics::register`].
///
/// # Errors
/// A recorder is installed already.
pub fn install() -> Result<PrometheusHandle, BuildError> {
    PrometheusBuilder::new().install_recorder()
}

/// Handles on the counters of the sale, the stock and the keeper. Clones share them.
#[derive(Clone)]
pub struct Metrics {
    answers: Vec<Counter>,
    grants: Counter,
    unreplicated_grants: Counter,
    batches: Counter,
    batch_reservations: Counter,
    pub negative_stock: Counter,
    pub broken_promises: Counter,
    pub orders_applied: Counter,
    pub messages_redelivered: Counter,
    pub ids_taken: Counter,
    check_backs: [Counter; 3],
    announced: Counter,
    parked: Counter,
    pub adopted: Counter,
    reads: [Counter; 2],
    pub never_applied: Counter,
    pub settled_refused: Counter,
    pub settled_reserved: Counter,
    pub gate_closures: Counter,
    pub rebuilds: Counter,
    pub rebuild_mismatches: Counter,
    pub releases: Counter,
    pub lanes_opened: Counter,
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Metrics")
    }
}

impl Metrics {
    #[must_use]
    pub fn register() -> Self {
        describe();
        let answers = Reason::ALL
            .iter()
            .map(|reason| counter!("flashsale_answers_total", "reason" => reason.word()))
            .collect();
        Self {
            answers,
            grants: counter!("flashsale_grants_total"),
            unreplicated_grants: counter!("flashsale_unreplicated_grants_total"),
            batches: counter!("flashsale_batch_reservations_count"),
            batch_reservations: counter!("flashsale_batch_reservations_sum"),
            negative_stock: counter!("flashsale_negative_stock_total"),
            broken_promises: counter!("flashsale_broken_promises_total"),
            orders_applied: counter!("flashsale_orders_applied_total"),
            messages_redelivered: counter!("flashsale_messages_redelivered_total"),
            ids_taken: counter!("flashsale_ids_taken_total"),
            check_backs: ["commit", "roll_back", "unknown"]
                .map(|decision| counter!("flashsale_check_backs_total", "decision" => decision)),
            announced: counter!("flashsale_announcements_total", "outcome" => "sent"),
            parked: counter!("flashsale_announcements_total", "outcome" => "parked"),
            adopted: counter!("flashsale_adopted_total"),
            reads: ["primary", "replica"]
                .map(|server| counter!("flashsale_reconcile_reads_total", "from" => server)),
            never_applied: counter!("flashsale_never_applied_total"),
            settled_refused: counter!("flashsale_settled_total", "outcome" => "refused"),
            settled_reserved: counter!("flashsale_settled_total", "outcome" => "reserved"),
            gate_closures: counter!("flashsale_gate_closures_total"),
            rebuilds: counter!("flashsale_rebuilds_total"),
            rebuild_mismatches: counter!("flashsale_rebuild_mismatches_total"),
            releases: counter!("flashsale_releases_total"),
            lanes_opened: counter!("flashsale_lanes_opened_total"),
        }
    }

    pub fn answered(&self, reason: Reason) {
        if let Some(counter) = self.answers.get(reason as usize) {
            counter.increment(1);
        }
    }

    /// One script call carried this many reservations.
    pub fn batch(&self, reservations: usize) {
        self.batches.increment(1);
        self.batch_reservations.increment(reservations as u64);
    }

    pub fn checked_back(&self, decision: Decision) {
        let [commit, roll_back, unknown] = &self.check_backs;
        match decision {
            Decision::Commit => commit.increment(1),
            Decision::RollBack => roll_back.increment(1),
            Decision::Unknown => unknown.increment(1),
        }
    }

    /// One look at which orders exist.
    pub fn looked_up(&self, from: ReadFrom) {
        let [primary, replica] = &self.reads;
        match from {
            ReadFrom::Primary => primary.increment(1),
            ReadFrom::Replica => replica.increment(1),
        }
    }

    /// Announcements that the broker has, and those that became dead letters.
    pub fn announced(&self, sent: u64, parked: u64) {
        self.announced.increment(sent);
        self.parked.increment(parked);
    }

    pub fn granted(&self, orders: usize, is_replicated: bool) {
        self.grants.increment(orders as u64);
        if !is_replicated {
            self.unreplicated_grants.increment(orders as u64);
        }
    }
}

/// Every counter, and what it counts.
const COUNTERS: [(&str, &str); 21] = [
    (
        "flashsale_answers_total",
        "Answers to buy requests, by reason",
    ),
    ("flashsale_grants_total", "Reservations granted by Redis"),
    (
        "flashsale_unreplicated_grants_total",
        "Grants that no replica had acknowledged",
    ),
    ("flashsale_batch_reservations_count", "Reserve script calls"),
    (
        "flashsale_batch_reservations_sum",
        "Reservations in those calls",
    ),
    (
        "flashsale_negative_stock_total",
        "Script answers with negative stock (alert)",
    ),
    (
        "flashsale_broken_promises_total",
        "Granted orders that MySQL refused",
    ),
    ("flashsale_orders_applied_total", "Orders created in MySQL"),
    (
        "flashsale_messages_redelivered_total",
        "Messages that had been applied before",
    ),
    (
        "flashsale_ids_taken_total",
        "Messages whose order was there before",
    ),
    ("flashsale_check_backs_total", "Check-backs, by decision"),
    (
        "flashsale_announcements_total",
        "Announcements of the outbox, by what became of them",
    ),
    (
        "flashsale_adopted_total",
        "Orders written because only the ledger knew them",
    ),
    (
        "flashsale_reconcile_reads_total",
        "Looks at which orders exist that may be some seconds old, by the server that was asked",
    ),
    (
        "flashsale_never_applied_total",
        "Granted orders given up because their message never came",
    ),
    (
        "flashsale_settled_total",
        "Unknown reservations, by what the ledger said",
    ),
    (
        "flashsale_gate_closures_total",
        "Gates closed because Redis could not be trusted",
    ),
    (
        "flashsale_rebuilds_total",
        "SKUs rebuilt in Redis from MySQL",
    ),
    (
        "flashsale_rebuild_mismatches_total",
        "Rebuilds whose comparison failed",
    ),
    (
        "flashsale_releases_total",
        "Reservations given back in Redis",
    ),
    (
        "flashsale_lanes_opened_total",
        "Connections opened to Redis primaries",
    ),
];

fn describe() {
    for (name, counts) in COUNTERS {
        describe_counter!(name, counts);
    }
}
