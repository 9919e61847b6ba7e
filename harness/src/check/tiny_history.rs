//! Hand-written tiny histories for the tests of the checkers: `Tiny::sale(2).bought(1).bought(2)`.
//!
//! User `u<key>` makes purchase `key` of SKU `s0`, one unit, limit one, unless said otherwise. What
//! is not said is a valid test: stores set up at the start, at rest and in agreement with the
//! orders at the end.

use std::collections::BTreeMap;

use super::case::Case;
use super::ledger::Ledger;
use super::purchases::Purchases;
use super::supply::Supply;
use super::{CheckId, CheckResult, Evidence, Judgement, Verdict, judge};
use crate::drill::last_call::{LastCall, LastCallEnd, is_last_call};
use crate::drill::plan::{Expect, Load, Plan, PlannedTopUp, Sale, ServiceLevels, Sku};
use crate::drill::top_up::{TopUpEvent, TopUpOutcome};
use crate::environment::CleanRoom;
use crate::faults::FaultEvent;
use crate::history::final_state::{
    CacheRow, FinalState, OrderRow, OrderState, StockRow, StoreState,
};
use crate::history::operation::{Operation, OperationKind, Outcome};
use crate::journeys::step::End;
use crate::journeys::{JourneySummary, Journeys, is_journey};
use crate::load::population::{Population, request_id, user_id};
use crate::load::schedule::Schedule;
use crate::load::summary::LoadSummary;
use crate::observe::Sample;
use crate::target::{AnswerOutcome, AnswerRule, Role, StateQueries, Target};

pub const SEED: u64 = 7;

/// Reasons by index; `paused` is an outage, `not_started` comes before the sale.
const REASONS: [&str; 6] = [
    "",
    "sold_out",
    "paused",
    "timeout",
    "limit_reached",
    "not_started",
];

pub struct Tiny {
    pub evidence: Evidence,
    pub operations: Vec<Operation>,
    settled: bool,
}

impl Tiny {
    /// One SKU `s0` with `stock` units, nothing bought yet.
    pub fn sale(stock: u32) -> Self {
        let evidence = Evidence {
            plan: plan(),
            load: LoadSummary {
                sent_share: 1.0,
                duration_ms: 60_000,
                ..LoadSummary::default()
            },
            journeys: None,
            last_call: None,
            faults: Vec::new(),
            top_ups: Vec::new(),
            stores: FinalState {
                converged_ms: Some(100),
                ..FinalState::default()
            },
            reasons: REASONS.iter().map(|&reason| reason.to_owned()).collect(),
            damage: None,
            samples: vec![Sample::default()],
            alerts: Some(Vec::new()),
            guarantees: [
                ("mysql innodb_flush_log_at_trx_commit", "1"),
                ("redis-0 cluster-node-timeout", "1000"),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
            clean_room: CleanRoom::default(),
        };
        Self {
            evidence,
            operations: Vec::new(),
            settled: false,
        }
        .sku(stock)
    }

    /// One more SKU on sale.
    pub fn sku(mut self, stock: u32) -> Self {
        let id = format!("s{}", self.evidence.plan.sale.skus.len());
        let start = &mut self.evidence.stores.start;
        start.queue_backlog = Some(0);
        start.stock.push(stock_row(&id, stock.into(), stock.into()));
        let available = Some(stock.into());
        start.cache.push(CacheRow {
            sku: id.clone(),
            available,
            held: BTreeMap::new(),
        });
        self.evidence.plan.sale.skus.push(Sku { id, stock });
        self
    }

    /// So many units more of `s0`, on sale between the last attempt and the next.
    pub fn top_up(mut self, units: u32) -> Self {
        let next_ns = self.operations.len() as u64 * 10_000_000;
        let answered_ns = next_ns.saturating_sub(3_000_000);
        self.evidence.plan.sale.top_ups.push(PlannedTopUp {
            at_ms: next_ns / 1_000_000,
            sku: "s0".to_owned(),
            units,
        });
        self.evidence.top_ups.push(TopUpEvent {
            id: "t".to_owned(),
            sku: "s0".to_owned(),
            units,
            sent_ns: Some(next_ns.saturating_sub(8_000_000)),
            tries: 1,
            outcome: TopUpOutcome::OnSale { answered_ns },
        });
        self
    }

    /// The last top-up ended otherwise. Of unknown outcome, it has added its units unless the stores at rest say otherwise.
    pub fn but_top_up(mut self, outcome: TopUpOutcome) -> Self {
        self.evidence.top_ups.last_mut().unwrap().outcome = outcome;
        self
    }

    /// The next attempt, 10 ms after the last, answered after 1 ms.
    fn attempt(mut self, kind: OperationKind, key: u64, outcome: Outcome, reason: &str) -> Self {
        let index = self.operations.len() as u64;
        let sent_ns = index * 10_000_000;
        let reason = REASONS.iter().position(|known| *known == reason).unwrap();
        let gives_id = kind == OperationKind::Buy && outcome == Outcome::Accepted;
        self.operations.push(Operation {
            index,
            kind,
            key,
            user: key,
            sku: 0,
            quantity: 1,
            attempt: 0,
            node: 0,
            fault_epoch: 0,
            intended_ns: sent_ns,
            sent_ns,
            completed_ns: sent_ns + 1_000_000,
            outcome,
            reason: u16::try_from(reason).unwrap(),
            status: 0,
            told: None,
            order_id: gives_id.then(|| format!("o{key}").into()),
        });
        self
    }

    pub fn accepted(self, key: u64) -> Self {
        self.attempt(OperationKind::Buy, key, Outcome::Accepted, "")
    }

    pub fn refused(self, key: u64, reason: &str) -> Self {
        self.attempt(OperationKind::Buy, key, Outcome::Refused, reason)
    }

    pub fn unknown(self, key: u64) -> Self {
        self.attempt(OperationKind::Buy, key, Outcome::Unknown, "timeout")
    }

    pub fn pay(self, key: u64) -> Self {
        self.attempt(OperationKind::Pay, key, Outcome::Accepted, "")
    }

    pub fn cancel(self, key: u64) -> Self {
        self.attempt(OperationKind::Cancel, key, Outcome::Accepted, "")
    }

    /// Its buyer asks, and is told this.
    pub fn told(self, key: u64, state: OrderState) -> Self {
        self.attempt(OperationKind::Status, key, Outcome::Accepted, "")
            .but(|one| one.told = Some(state))
    }

    /// The buyer of the last attempt clicks again: one more record of the same purchase, under the index of
    /// its first click, that is not in the schedule.
    pub fn retried(mut self, outcome: Outcome, reason: &str) -> Self {
        let (key, index) = self
            .operations
            .last()
            .map(|last| (last.key, last.index))
            .unwrap();
        self.evidence.load.retries.sent += 1;
        self.attempt(OperationKind::Buy, key, outcome, reason)
            .but(|one| one.index = index)
    }

    /// Changes the last attempt.
    pub fn but(mut self, change: impl FnOnce(&mut Operation)) -> Self {
        change(self.operations.last_mut().unwrap());
        self
    }

    /// An order in the store as purchase `key` asked for it.
    pub fn order(mut self, key: u64, state: OrderState) -> Self {
        self.evidence.stores.end.orders.push(order_row(key, state));
        self
    }

    pub fn rejected(mut self, key: u64, reason: &str) -> Self {
        let row = OrderRow {
            reason: reason.to_owned(),
            ..order_row(key, OrderState::Rejected)
        };
        self.evidence.stores.end.orders.push(row);
        self
    }

    /// The store has no order of this purchase.
    pub fn without_order(mut self, key: u64) -> Self {
        let id = request_id(SEED, key);
        let orders = &mut self.evidence.stores.end.orders;
        orders.retain(|row| row.request_id != id);
        self
    }

    /// Changes the last order.
    pub fn but_order(mut self, change: impl FnOnce(&mut OrderRow)) -> Self {
        change(self.evidence.stores.end.orders.last_mut().unwrap());
        self
    }

    /// Accepted, and stored.
    pub fn bought(self, key: u64) -> Self {
        self.accepted(key).order(key, OrderState::Created)
    }

    /// Stores at rest as the orders demand: from here on `with` can break them.
    pub fn settled(mut self) -> Self {
        let supply = Supply::new(&self.evidence);
        let end = &mut self.evidence.stores.end;
        end.queue_backlog = Some(0);
        for (sku, supply) in self.evidence.plan.sale.skus.iter().zip(supply.skus()) {
            let mut held = BTreeMap::new();
            for row in end
                .orders
                .iter()
                .filter(|row| row.sku == sku.id && row.state.is_live())
            {
                *held.entry(row.user.clone()).or_insert(0) += i64::from(row.quantity);
            }
            let units = supply.units_signed();
            let left = units - held.values().sum::<i64>();
            end.stock.push(stock_row(&sku.id, units, left));
            end.cache.push(CacheRow {
                sku: sku.id.clone(),
                available: Some(left),
                held,
            });
        }
        self.settled = true;
        self
    }

    /// The plan has journeys, of which one went all the way; purchases with keys of theirs are theirs.
    pub fn journeys(mut self) -> Self {
        self.evidence.plan.journeys = Some(journeys());
        self.evidence.journeys = Some(JourneySummary {
            started: 1,
            ends: [(End::Paid, 1)].into(),
            ..JourneySummary::default()
        });
        self
    }

    /// A last call was made for so many units; purchases with keys of [`KEYS`] are made at it.
    pub fn last_call(mut self, units_left: i64, end: LastCallEnd) -> Self {
        let sent = self.operations.iter().filter(|one| is_last_call(one.key));
        let load = LoadSummary {
            sent: sent.count() as u64,
            ..LoadSummary::default()
        };
        self.evidence.last_call = Some(LastCall {
            units_left,
            end,
            load,
        });
        self
    }

    /// Changes the evidence, after the stores were settled.
    pub fn with(self, change: impl FnOnce(&mut Evidence)) -> Self {
        let mut tiny = if self.settled { self } else { self.settled() };
        change(&mut tiny.evidence);
        tiny
    }

    /// What the checkers look at, the whole history condensed.
    pub fn case(&self) -> Case<'_> {
        let mut purchases = Purchases::new(&self.evidence, &Ledger::new(&self.evidence));
        for operation in &self.operations {
            purchases.observe(operation);
        }
        Case::new(&self.evidence, purchases)
    }

    pub fn judge(self, checks: &[CheckId]) -> Judgement {
        let mut tiny = if self.settled { self } else { self.settled() };
        let buys = tiny
            .operations
            .iter()
            .filter(|one| one.kind == OperationKind::Buy)
            .filter(|one| !is_journey(one.key) && !is_last_call(one.key))
            .count();
        let load = &mut tiny.evidence.load;
        let arrivals = buys as u64 - load.retries.sent;
        for said in [&mut load.sent, &mut load.offered] {
            if *said == 0 {
                *said = arrivals;
            }
        }
        tiny.evidence.plan.expect.checks = checks.to_vec();
        judge(&tiny.evidence, tiny.operations.into_iter())
    }

    /// The answer of one checker.
    pub fn check(self, id: CheckId) -> CheckResult {
        let judgement = self.judge(&[id]);
        judgement
            .checks
            .into_iter()
            .find(|one| one.id == id)
            .unwrap()
    }
}

/// Judges every case of a table by one checker: (what it shows, history, verdict).
pub fn assert_verdicts(id: CheckId, cases: Vec<(&str, Tiny, Verdict)>) {
    for (what, tiny, verdict) in cases {
        let result = tiny.check(id);
        assert_eq!(result.verdict, verdict, "{what}: {result:#?}");
        let has_witness = !result.witnesses.is_empty();
        assert_eq!(
            has_witness,
            verdict == Verdict::Fail,
            "{what}: a failure has a witness"
        );
    }
}

/// A broker kill that bit, and was healed.
pub fn broker_killed(injected_at_ms: u64, healed_at_ms: u64) -> FaultEvent {
    FaultEvent {
        kind: "broker_kill".to_owned(),
        what: "broker".to_owned(),
        injected_at_ms,
        injected_epoch: Some(1),
        healed_epoch: Some(2),
        healed_at_ms: Some(healed_at_ms),
        heals: true,
        receipt: Some("killed by signal 9".to_owned()),
        error: None,
    }
}

fn order_row(key: u64, state: OrderState) -> OrderRow {
    OrderRow {
        order_id: format!("o{key}"),
        request_id: request_id(SEED, key),
        user: user_id(key),
        sku: "s0".to_owned(),
        quantity: 1,
        state,
        reason: String::new(),
    }
}

pub fn stock_row(sku: &str, total: i64, available: i64) -> StockRow {
    StockRow {
        sku: sku.to_owned(),
        total,
        available,
    }
}

/// A reading of one part that failed.
pub fn unread(state: &mut StoreState, what: &str) {
    state.unread.push(what.to_owned());
}

pub fn plan() -> Plan {
    Plan {
        drill: "tiny".to_owned(),
        title: "A tiny history".to_owned(),
        controls: Vec::new(),
        seed: SEED,
        service: vec![Role::default()],
        sale: Sale {
            id: "sale-1".to_owned(),
            skus: Vec::new(),
            limit_per_user: 1,
            opens_at_ms: 0,
            top_ups: Vec::new(),
        },
        load: Load {
            schedule: Schedule::of(Vec::new()),
            connections: 1,
            depth: 1,
            timeout_ms: 1_000,
            fitted: None,
        },
        population: Population::of(100),
        journeys: None,
        faults: Vec::new(),
        expect: Expect {
            checks: Vec::new(),
            sent_share_min: 0.999,
            schedule_lag_us_p99_max: 1_000,
            phase_lag_us_p99_max: BTreeMap::new(),
            converge_ms_max: 1_000,
            recover_ms_max: 1_000,
            backlog_max: None,
            store_calls_per_refusal_max: 0.1,
            alerts: Vec::new(),
            service_levels: ServiceLevels::default(),
            sell_out: false,
        },
        mutants: Vec::new(),
        variants: Vec::new(),
        target: target(),
    }
}

/// Half of the buyers pay, a fifth cancel.
pub fn journeys() -> Journeys {
    Journeys {
        users: 20,
        hatch_per_s: 10.0,
        think_ms: 1,
        pay_share: 0.5,
        cancel_share: 0.2,
        poll_every_ms: 1,
        poll_max: 1,
        starts_at_ms: 0,
    }
}

fn target() -> Target {
    Target {
        name: "tiny".to_owned(),
        answers: vec![
            AnswerRule {
                sold_out: true,
                ..rule(409, "sold_out", false)
            },
            rule(503, "paused", true),
            AnswerRule {
                outside_sale: true,
                ..rule(403, "not_started", false)
            },
        ],
        order_id_field: "order_id".to_owned(),
        state: StateQueries {
            cache_available: vec!["GET".to_owned()],
            cache_held: vec!["HGETALL".to_owned()],
            never_granted_reasons: vec!["never_reserved".to_owned()],
            ..StateQueries::default()
        },
        ..Target::default()
    }
}

fn rule(status: u16, reason: &str, outage: bool) -> AnswerRule {
    AnswerRule {
        status,
        contains: String::new(),
        outcome: AnswerOutcome::Refused,
        reason: reason.to_owned(),
        outage,
        retryable: None,
        outside_sale: false,
        sold_out: false,
    }
}
