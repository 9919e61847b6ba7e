//! Reports of three synthetic runs of a Redis failover drill: one that passes, one of a service that sells
//! lost reservations again, one that was no valid test. The pages stay in cargo's folder for test files,
//! to be looked at.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::PathBuf;

use flashdrill::check::{CheckId, Evidence, Judgement, Verdict, judge};
use flashdrill::drill::plan::PlannedFault;
use flashdrill::drill::range::Count;
use flashdrill::environment::CleanRoom;
use flashdrill::faults::{Fault, FaultEvent, RedisPrimaryKill};
use flashdrill::history::final_state::{
    CacheRow, FinalState, OrderRow, OrderState, StockRow, StoreState,
};
use flashdrill::history::operation::{Operation, OperationKind, Outcome};
use flashdrill::load::population::{request_id, user_id};
use flashdrill::load::summary::{Interval, LoadSummary, Percentiles, PhaseSummary};
use flashdrill::observe::Sample;
use flashdrill::observe::alerts::Alert;
use flashdrill::report::{ReportInput, VerdictFile, summary, write_all};
use flashdrill::target::{AnswerOutcome, AnswerRule, StateQueries};

const SEED: u64 = 20_261_129;
const SKUS: [(&str, u32); 2] = [("phone-128", 2_400), ("phone-256", 1_600)];
/// Requests per second and seconds of the synthetic load.
const RATE: u64 = 4_000;
const SECONDS: u64 = 20;
/// Milliseconds: kill, back in service, healed.
const KILLED: u64 = 4_000;
const BACK: u64 = 8_300;
const HEALED: u64 = 11_900;
const REASONS: [&str; 5] = ["", "sold_out", "paused", "timeout", "limit_reached"];

/// What the synthetic service does wrong.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flaw {
    None,
    /// Units whose reservations the failover lost are sold again.
    Resells,
    /// Nothing; the generator fell behind and the fault left no receipt.
    NoTest,
}

/// A run made up from its index, without randomness.
struct Run {
    flaw: Flaw,
    operations: Vec<Operation>,
    orders: Vec<OrderRow>,
    /// Keys with an order.
    accepted: HashSet<u64>,
    left: [i64; 2],
    timeline: Vec<Interval>,
    samples: Vec<Sample>,
}

impl Run {
    fn new(flaw: Flaw) -> Self {
        let left = SKUS.map(|(_, stock)| i64::from(stock));
        let mut run = Self {
            flaw,
            operations: Vec::new(),
            orders: Vec::new(),
            accepted: HashSet::new(),
            left,
            timeline: Vec::new(),
            samples: Vec::new(),
        };
        for second in 0..SECONDS {
            run.timeline.push(Interval {
                at_ms: second * 1_000,
                ..Interval::default()
            });
        }
        for index in 0..RATE * SECONDS {
            run.arrive(index);
        }
        run
    }

    fn arrive(&mut self, index: u64) {
        let at_ms = index * 1_000 / RATE;
        let sku = u32::from(index % 5 >= 3);
        // Every 40th arrival is a second click of the purchase 5 before it, which is of the same SKU.
        let key = if index % 40 == 39 { index - 5 } else { index };
        let (outcome, reason) = self.decide(index, key, sku as usize, at_ms);
        if index.is_multiple_of(2_000) {
            self.sample(at_ms);
        }
        self.count(at_ms, outcome, reason);
        let took_ns = match outcome {
            Outcome::Unknown => 1_000_000_000,
            _ => 400_000 + index % 97 * 10_000,
        };
        self.operations.push(Operation {
            index,
            kind: OperationKind::Buy,
            key,
            user: key,
            sku,
            quantity: 1,
            attempt: 0,
            node: 0,
            fault_epoch: 0,
            intended_ns: at_ms * 1_000_000,
            sent_ns: at_ms * 1_000_000 + 60_000,
            completed_ns: at_ms * 1_000_000 + took_ns,
            outcome,
            reason,
            status: 0,
            told: None,
            order_id: (outcome == Outcome::Accepted).then(|| order_id(key).into()),
        });
    }

    /// Sells to one in six until the stock is gone; nothing between kill and reopening.
    fn decide(&mut self, index: u64, key: u64, sku: usize, at_ms: u64) -> (Outcome, u16) {
        if (KILLED..BACK).contains(&at_ms) {
            let dies = at_ms < KILLED + 20 && index.is_multiple_of(4);
            return if dies {
                (Outcome::Unknown, 3)
            } else {
                (Outcome::Refused, 2)
            };
        }
        if self.accepted.contains(&key) {
            return (Outcome::Accepted, 0);
        }
        if !index.is_multiple_of(6) {
            return (Outcome::Refused, if self.left[sku] > 0 { 4 } else { 1 });
        }
        let resold = self.flaw == Flaw::Resells && at_ms > BACK && at_ms < BACK + 300;
        if resold {
            let lost = index.is_multiple_of(90);
            if !lost {
                self.order(key, sku, OrderState::Rejected, "stock_exhausted");
            }
            return (Outcome::Accepted, 0);
        }
        if self.left[sku] == 0 {
            return (Outcome::Refused, 1);
        }
        let state = if index.is_multiple_of(4) {
            OrderState::Paid
        } else {
            OrderState::Created
        };
        self.order(key, sku, state, "");
        self.left[sku] -= 1;
        (Outcome::Accepted, 0)
    }

    fn order(&mut self, key: u64, sku: usize, state: OrderState, reason: &str) {
        self.accepted.insert(key);
        self.orders.push(OrderRow {
            order_id: order_id(key),
            request_id: request_id(SEED, key),
            user: user_id(key),
            sku: SKUS[sku].0.to_owned(),
            quantity: 1,
            state,
            reason: reason.to_owned(),
        });
    }

    fn count(&mut self, at_ms: u64, outcome: Outcome, reason: u16) {
        let outage = (KILLED..BACK).contains(&at_ms);
        let one = &mut self.timeline[(at_ms / 1_000) as usize];
        one.offered += 1;
        one.sent += 1;
        match outcome {
            Outcome::Accepted => one.accepted += 1,
            Outcome::Unknown => one.unknown += 1,
            Outcome::Refused if reason == 2 => one.outage += 1,
            Outcome::Refused => one.refused += 1,
        }
        one.response_us_p50 = 420 + at_ms % 37;
        one.response_us_p99 = if outage {
            48_000 + at_ms * 7 % 9_000
        } else {
            2_100 + at_ms % 700
        };
    }

    fn sample(&mut self, at_ms: u64) {
        let store = self.left.iter().sum::<i64>();
        let down = (KILLED..KILLED + 1_500).contains(&at_ms);
        let surplus = if self.flaw == Flaw::Resells && at_ms > KILLED {
            180
        } else {
            0
        };
        self.samples.push(Sample {
            at_ms: at_ms as i64,
            store_available: Some(store + 40.min(store / 10)),
            cache_available: (!down).then_some(store + surplus),
            cpu_ms: ["service", "redis", "rocketmq", "mysql"]
                .map(|name| (name.to_owned(), at_ms * name.len() as u64 / 20))
                .into(),
            ..Sample::default()
        });
    }

    fn evidence(&self) -> Evidence {
        let mut plan = crate::plan::sale_of(&SKUS, queries());
        plan.drill = "redis/primary-kill".to_owned();
        plan.title =
            "A Redis primary dies with acknowledged reservations that its replica never saw: \
                      nothing is oversold, nothing is lost, and the sale goes on"
                .to_owned();
        plan.controls = vec!["RD-4".to_owned(), "RD-6".to_owned()];
        plan.seed = SEED;
        plan.population.duplicate_share = 0.025;
        plan.target.answers = vec![outage_rule("paused")];
        plan.expect.checks = vec![
            CheckId::S1,
            CheckId::S2,
            CheckId::S4,
            CheckId::S5,
            CheckId::S6,
            CheckId::L1,
            CheckId::L2,
            CheckId::L3,
            CheckId::L4,
        ];
        plan.expect.sell_out = true;
        let kill = RedisPrimaryKill {
            sku: Count::new(1).unwrap(),
            cut_replication_ms: 600,
        };
        plan.faults.push(PlannedFault {
            at_ms: KILLED,
            for_ms: Some(5_000),
            fault: Fault::RedisPrimaryKill(kill),
        });
        Evidence {
            plan,
            load: self.load(),
            last_call: None,
            journeys: None,
            faults: vec![self.fault()],
            top_ups: Vec::new(),
            stores: self.stores(),
            reasons: REASONS.iter().map(|&reason| reason.to_owned()).collect(),
            damage: None,
            samples: self.samples.clone(),
            alerts: Some(vec![Alert {
                at_ms: KILLED as i64 + 700,
                name: "stock_paused".to_owned(),
                about: "sale/phone-128".to_owned(),
                body: String::new(),
            }]),
            guarantees: [("redis-0 cluster-node-timeout".to_owned(), "1000".to_owned())].into(),
            clean_room: CleanRoom::default(),
        }
    }

    fn fault(&self) -> FaultEvent {
        let receipt = "process 4711 ended by signal 9; 41,216 bytes held back on redis-replication-2; \
                       127.0.0.1:17004 is primary of slot 9021 now";
        FaultEvent {
            kind: "redis_primary_kill".to_owned(),
            what: "primary 127.0.0.1:17001 of phone-128; links redis-replication-1 and -4"
                .to_owned(),
            injected_at_ms: KILLED,
            injected_epoch: None,
            healed_epoch: None,
            healed_at_ms: Some(HEALED),
            heals: true,
            receipt: (self.flaw != Flaw::NoTest).then(|| receipt.to_owned()),
            error: None,
        }
    }

    fn load(&self) -> LoadSummary {
        let sent = RATE * SECONDS;
        let behind = self.flaw == Flaw::NoTest;
        let lag = Percentiles {
            p50: 52,
            p90: 96,
            p99: if behind { 8_400 } else { 210 },
            p999: 640,
            max: 9_120,
        };
        let response = Percentiles {
            p50: 431,
            p90: 980,
            p99: 51_300,
            p999: 1_000_400,
            max: 1_001_200,
        };
        let number = |outcome| {
            self.operations
                .iter()
                .filter(|one| one.outcome == outcome)
                .count() as u64
        };
        let phase = |name: &str, lag: u64| PhaseSummary {
            name: name.to_owned(),
            offered: sent / 2,
            sent: sent / 2,
            schedule_lag_us: Percentiles {
                p99: lag,
                ..Percentiles::default()
            },
            response_us: Percentiles {
                p50: 431,
                p99: 51_300,
                ..Percentiles::default()
            },
            ..PhaseSummary::default()
        };
        LoadSummary {
            offered: sent,
            sent,
            late: 312,
            dropped: 0,
            offered_per_s: RATE as f64,
            sent_per_s: RATE as f64,
            sent_share: 1.0,
            schedule_lag_us: lag,
            response_us: response,
            service_us: Percentiles {
                p50: 370,
                p90: 910,
                ..response
            },
            phases: vec![phase("opening", 480), phase("steady", 190)],
            outcomes: BTreeMap::from([
                ("accepted".to_owned(), number(Outcome::Accepted)),
                ("refused:sold_out".to_owned(), number(Outcome::Refused)),
                ("unknown:timeout".to_owned(), number(Outcome::Unknown)),
            ]),
            follow_ups: BTreeMap::from([("pay:accepted".to_owned(), 961)]),
            timeline: self.timeline.clone(),
            duration_ms: SECONDS * 1_000,
            generator_cpu_ms: 610,
            ..LoadSummary::default()
        }
    }

    fn stores(&self) -> FinalState {
        let row = |(sku, stock): (&str, u32), available| StockRow {
            sku: sku.to_owned(),
            total: i64::from(stock),
            available,
        };
        let cold = |(sku, stock): (&str, u32)| CacheRow {
            sku: sku.to_owned(),
            available: Some(i64::from(stock)),
            held: BTreeMap::new(),
        };
        let start = StoreState {
            stock: SKUS.map(|sku| row(sku, i64::from(sku.1))).to_vec(),
            cache: SKUS.map(cold).to_vec(),
            queue_backlog: Some(0),
            ..StoreState::default()
        };
        let end = StoreState {
            orders: self.orders.clone(),
            stock: SKUS
                .iter()
                .zip(self.left)
                .map(|(sku, left)| row(*sku, left))
                .collect(),
            cache: SKUS
                .iter()
                .zip(self.left)
                .map(|(sku, left)| self.cache(sku.0, left))
                .collect(),
            queue_backlog: Some(0),
            counters: BTreeMap::from([
                ("redelivered".to_owned(), 37.0),
                ("grants".to_owned(), 4_021.0),
            ]),
            ..StoreState::default()
        };
        FinalState {
            start,
            end,
            converged_ms: Some(1_840),
        }
    }

    fn cache(&self, sku: &str, left: i64) -> CacheRow {
        let live = self
            .orders
            .iter()
            .filter(|row| row.sku == sku && row.state.is_live());
        let held = live.map(|row| (row.user.clone(), 1)).collect();
        CacheRow {
            sku: sku.to_owned(),
            available: Some(left),
            held,
        }
    }
}

fn order_id(key: u64) -> String {
    format!("{:032x}", u128::from(key) * 0x9e37_79b9_7f4a_7c15)
}

fn outage_rule(reason: &str) -> AnswerRule {
    AnswerRule {
        status: 503,
        contains: reason.to_owned(),
        outcome: AnswerOutcome::Refused,
        reason: reason.to_owned(),
        outage: true,
        retryable: None,
        outside_sale: false,
        sold_out: false,
    }
}

fn queries() -> StateQueries {
    StateQueries {
        cache_available: vec!["HGET".to_owned()],
        cache_held: vec!["HGETALL".to_owned()],
        never_granted_reasons: vec!["never_reserved".to_owned()],
        ..StateQueries::default()
    }
}

/// Judges the run and writes its report; the page and the verdict file.
fn report(name: &str, flaw: Flaw) -> (Judgement, String, VerdictFile, String) {
    let run = Run::new(flaw);
    let evidence = run.evidence();
    let judgement = judge(&evidence, run.operations.into_iter());
    let environment = [
        ("Redis", "7.0.15, cluster of 3 primaries and 3 replicas"),
        ("MySQL", "MariaDB 10.11.14"),
        ("RocketMQ", "5.3.3"),
        ("Java", "OpenJDK 17.0.15"),
        ("Machine", "2 cores, Linux 6.1, native processes"),
    ]
    .map(|(name, version)| (name.to_owned(), version.to_owned()))
    .into();
    let input = ReportInput {
        run: "2026-11-29T14-02-11-redis-primary-kill",
        started_at: "2026-11-29 14:02:11 UTC",
        mutant: (flaw == Flaw::Resells).then_some("reopen-without-rebuild"),
        evidence: &evidence,
        judgement: &judgement,
        environment: &environment,
    };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    let written = write_all(&folder, &input).unwrap();
    let page = fs::read_to_string(written.html).unwrap();
    let verdict = serde_json::from_slice(&fs::read(written.verdict).unwrap()).unwrap();
    let text = summary(&input, &folder);
    (judgement, page, verdict, text)
}

#[test]
fn a_good_run_passes_and_says_so() {
    let (judgement, page, verdict, text) = report("pass", Flaw::None);
    assert_eq!(judgement.verdict, Verdict::Pass, "{:#?}", judgement.reasons);
    assert_eq!(verdict.verdict, Verdict::Pass);
    assert_eq!(
        (verdict.sale.sold_units, verdict.sale.unsold_units),
        (4_000, 0)
    );
    assert!(
        text.starts_with("PASS  redis/primary-kill  (seed 20261129)"),
        "{text}"
    );
    assert!((8..=12).contains(&text.lines().count()), "{text}");
    assert!(page.contains("all 11 checks hold"));
    assert!(page.contains("<td>stock_paused</td><td>sale/phone-128</td>"));
}

#[test]
fn a_bad_run_fails_with_witnesses_up_front() {
    let (judgement, page, verdict, text) = report("fail", Flaw::Resells);
    assert_eq!(judgement.verdict, Verdict::Fail);
    let failed: Vec<CheckId> = verdict
        .checks
        .iter()
        .filter(|check| check.verdict == Verdict::Fail)
        .map(|check| check.id)
        .collect();
    assert_eq!(failed, [CheckId::S2, CheckId::L1]);
    assert!(verdict.sale.broken_promises > 0 && verdict.sale.lost > 0);
    assert!(text.contains("why       S2: "), "{text}");
    let verdict_at = page.find("Each has a witness below").unwrap();
    let sale_at = page.find("What the sale did").unwrap();
    assert!(verdict_at < sale_at);
    assert!(page.contains("the order is lost"));
    assert!(page.contains("<p class=\"subject\">first: "));
}

#[test]
fn a_run_that_was_no_test_is_inconclusive() {
    let (judgement, page, _, text) = report("inconclusive", Flaw::NoTest);
    assert_eq!(judgement.verdict, Verdict::Inconclusive);
    assert!(text.starts_with("INCONCLUSIVE"), "{text}");
    assert!(page.contains("This is no pass"));
}

#[test]
fn the_page_needs_nothing_else_and_escapes_what_it_shows() {
    let run = Run::new(Flaw::None);
    let mut evidence = run.evidence();
    evidence.plan.title = "<script>alert(1)</script>".to_owned();
    evidence.faults[0].receipt = Some("<img src=x>".to_owned());
    let judgement = judge(&evidence, run.operations.into_iter());
    let environment = BTreeMap::new();
    let input = ReportInput {
        run: "run",
        started_at: "now",
        mutant: None,
        evidence: &evidence,
        judgement: &judgement,
        environment: &environment,
    };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("escaped");
    fs::create_dir_all(&folder).unwrap();
    let page = fs::read_to_string(write_all(&folder, &input).unwrap().html).unwrap();
    for foreign in ["<script", "<img", "<link", "src=", "@import", "url("] {
        assert!(
            !page.replace("&lt;img src=x&gt;", "").contains(foreign),
            "{foreign}"
        );
    }
    assert_eq!(
        page.matches("<svg").count(),
        8,
        "four panels, wide and narrow"
    );
}

#[test]
fn a_run_that_recorded_nothing_still_has_a_report() {
    let mut evidence = Run::new(Flaw::None).evidence();
    evidence.load = LoadSummary {
        aborted: Some("Ctrl-C".to_owned()),
        ..LoadSummary::default()
    };
    evidence.samples.clear();
    evidence.faults.clear();
    evidence.stores = FinalState::default();
    let judgement = judge(&evidence, std::iter::empty());
    assert_eq!(judgement.verdict, Verdict::Inconclusive);
    let environment = BTreeMap::new();
    let input = ReportInput {
        run: "empty",
        started_at: "now",
        mutant: None,
        evidence: &evidence,
        judgement: &judgement,
        environment: &environment,
    };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("empty");
    fs::create_dir_all(&folder).unwrap();
    write_all(&folder, &input).unwrap();
}
