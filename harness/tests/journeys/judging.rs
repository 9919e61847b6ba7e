//! A run folder with two histories: both are judged, and neither may be missing or damaged.

use std::collections::BTreeMap;
use std::path::Path;

use flashdrill::check::{CheckId, Verdict};
use flashdrill::drill::folder::RunFolder;
use flashdrill::drill::judge::{Finished, RunAbout, judge_folder};
use flashdrill::drill::plan::Plan;
use flashdrill::environment::CleanRoom;
use flashdrill::faults::FaultEvent;
use flashdrill::history::HistoryWriter;
use flashdrill::history::final_state::{FinalState, OrderRow, OrderState, StockRow, StoreState};
use flashdrill::history::operation::{Operation, OperationKind, Outcome};
use flashdrill::journeys::JourneySummary;
use flashdrill::journeys::step::End;
use flashdrill::load::population::{request_id, user_id};
use flashdrill::load::reason;
use flashdrill::load::summary::LoadSummary;
use flashdrill::observe::Sample;

use crate::trip;

/// A purchase of a journey.
const JOURNEY: u64 = 1 << 62;

/// One arrival and one journey that bought a unit each, of two.
struct Run {
    plan: Plan,
    arrivals: Vec<Operation>,
    journeys: Vec<Operation>,
    summary: JourneySummary,
    orders: Vec<OrderRow>,
}

impl Run {
    fn new() -> Self {
        let mut plan = trip::plan(1_000);
        plan.sale.skus.truncate(1);
        plan.sale.skus[0].stock = 2;
        plan.expect.checks = vec![CheckId::S1, CheckId::S2, CheckId::S6, CheckId::L1];
        Self {
            orders: vec![order(&plan, 0), order(&plan, JOURNEY)],
            plan,
            arrivals: vec![accepted(0)],
            journeys: vec![accepted(JOURNEY)],
            summary: JourneySummary {
                buyers: 1,
                started: 1,
                ends: [(End::Left, 1)].into(),
                buys: 1,
                ..JourneySummary::default()
            },
        }
    }

    /// Judges it, after the folder was tampered with.
    fn judged(&self, tamper: impl FnOnce(&Path)) -> Finished {
        let scratch = tempfile::tempdir().unwrap();
        let folder = RunFolder::create(scratch.path(), "run").unwrap();
        let load = LoadSummary {
            offered: self.arrivals.len() as u64,
            sent: self.arrivals.len() as u64,
            sent_share: 1.0,
            duration_ms: 1_000,
            ..LoadSummary::default()
        };
        folder.save(RunFolder::PLAN, &self.plan).unwrap();
        folder.save(RunFolder::ABOUT, &RunAbout::default()).unwrap();
        let nothing: BTreeMap<String, String> = BTreeMap::new();
        folder.save(RunFolder::ENVIRONMENT, &nothing).unwrap();
        folder.save(RunFolder::GUARANTEES, &nothing).unwrap();
        folder.save(RunFolder::LOAD, &load).unwrap();
        folder
            .save(RunFolder::FAULTS, &Vec::<FaultEvent>::new())
            .unwrap();
        folder.save(RunFolder::STORES, &self.stores()).unwrap();
        folder
            .save(RunFolder::CLEAN_ROOM, &CleanRoom::default())
            .unwrap();
        let sample = serde_json::to_string(&Sample::default()).unwrap();
        std::fs::write(folder.file(RunFolder::SAMPLES), sample).unwrap();
        folder.save(RunFolder::JOURNEYS, &self.summary).unwrap();
        self.write(&folder, RunFolder::HISTORY, &self.arrivals);
        self.write(&folder, RunFolder::JOURNEY_HISTORY, &self.journeys);
        tamper(folder.path());
        judge_folder(folder).unwrap()
    }

    fn write(&self, folder: &RunFolder, name: &str, operations: &[Operation]) {
        let reasons = reason::reasons(&self.plan.target);
        let mut writer =
            HistoryWriter::create(&folder.file(name), self.plan.seed, reasons).unwrap();
        for one in operations {
            writer.append(one, one.order_id.as_deref()).unwrap();
        }
        writer.finish().unwrap();
    }

    fn stores(&self) -> FinalState {
        let stock = self.plan.sale.skus[0].stock.into();
        let row = |available| StockRow {
            sku: "s0".into(),
            total: stock,
            available,
        };
        let live = self.orders.iter().filter(|row| row.state.is_live());
        let left = stock - live.count() as i64;
        let state = |orders, available| StoreState {
            orders,
            stock: vec![row(available)],
            queue_backlog: Some(0),
            ..StoreState::default()
        };
        FinalState {
            start: state(Vec::new(), stock),
            end: state(self.orders.clone(), left),
            converged_ms: Some(1),
        }
    }
}

fn accepted(key: u64) -> Operation {
    Operation {
        index: key,
        kind: OperationKind::Buy,
        key,
        user: 100 + key % 7,
        sku: 0,
        quantity: 1,
        attempt: 0,
        node: 0,
        fault_epoch: 0,
        intended_ns: 1,
        sent_ns: 1,
        completed_ns: 2,
        outcome: Outcome::Accepted,
        reason: 0,
        status: 202,
        told: None,
        order_id: Some(format!("o{key}").into()),
    }
}

fn order(plan: &Plan, key: u64) -> OrderRow {
    OrderRow {
        order_id: format!("o{key}"),
        request_id: request_id(plan.seed, key),
        user: user_id(100 + key % 7),
        sku: "s0".into(),
        quantity: 1,
        state: OrderState::Created,
        reason: String::new(),
    }
}

fn failed(finished: &Finished) -> Vec<CheckId> {
    let all = finished.judgement.checks.iter();
    all.filter(|one| one.verdict == Verdict::Fail)
        .map(|one| one.id)
        .collect()
}

#[test]
fn both_histories_make_one_sale() {
    let finished = Run::new().judged(|_| ());
    assert_eq!(
        finished.judgement.verdict,
        Verdict::Pass,
        "{:#?}",
        finished.judgement
    );
    assert_eq!(finished.judgement.tally.accepted, 2);
    let summary = finished.summary();
    assert!(
        summary.contains("journeys  1 buyers: 1 whole journeys"),
        "{summary}"
    );
}

#[test]
fn what_goes_wrong_on_a_journey_is_found() {
    let mut oversold = Run::new();
    oversold.journeys.push(accepted(JOURNEY + 1));
    oversold.summary.buys = 2;
    oversold.orders.push(order(&oversold.plan, JOURNEY + 1));
    assert_eq!(failed(&oversold.judged(|_| ())), [CheckId::S1, CheckId::S2]);

    let mut lost = Run::new();
    lost.orders.pop();
    assert_eq!(failed(&lost.judged(|_| ())), [CheckId::L1]);

    let mut phantom = Run::new();
    phantom.journeys[0].outcome = Outcome::Refused;
    phantom.journeys[0].order_id = None;
    let finished = phantom.judged(|_| ());
    assert_eq!(failed(&finished), [CheckId::S6]);
    let checks = &finished.judgement.checks;
    let phantoms = checks.iter().find(|one| one.id == CheckId::S6).unwrap();
    let witness = &phantoms.witnesses[0].witness;
    assert!(
        witness.subject.contains(&request_id(7, JOURNEY)),
        "{witness:#?}"
    );
}

#[test]
fn a_missing_or_damaged_part_of_the_journeys_is_no_pass() {
    let cut = |folder: &Path| {
        let path = folder.join("journeys.bin");
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() - 5]).unwrap();
    };
    let remove =
        |name: &'static str| move |folder: &Path| std::fs::remove_file(folder.join(name)).unwrap();
    type Tamper = Box<dyn FnOnce(&Path)>;
    let cases: [(&str, Tamper); 4] = [
        ("journeys.bin", Box::new(cut)),
        ("journeys.bin", Box::new(remove("journeys.bin"))),
        ("journeys.json", Box::new(remove("journeys.json"))),
        ("history.bin", Box::new(remove("history.bin"))),
    ];
    for (named, tamper) in cases {
        let finished = Run::new().judged(tamper);
        let judgement = &finished.judgement;
        assert_eq!(judgement.verdict, Verdict::Inconclusive, "{judgement:#?}");
        assert!(judgement.reasons[0].contains(named), "{judgement:#?}");
    }
}

#[test]
fn a_plan_without_journeys_needs_none_of_it() {
    let mut run = Run::new();
    run.plan.journeys = None;
    run.orders.pop();
    let finished = run.judged(|folder| {
        std::fs::remove_file(folder.join("journeys.bin")).unwrap();
        std::fs::remove_file(folder.join("journeys.json")).unwrap();
    });
    assert_eq!(
        finished.judgement.verdict,
        Verdict::Pass,
        "{:#?}",
        finished.judgement
    );
    assert!(!finished.summary().contains("journeys"));
}
