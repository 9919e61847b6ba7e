//! Plans for small loads, and what a finished load left behind.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use flashdrill::history::operation::Operation;
use flashdrill::history::{FaultEpoch, HistoryReader, HistoryWriter};
use flashdrill::load::endpoint::Endpoint;
use flashdrill::load::population::Population;
use flashdrill::load::schedule::{Phase, Schedule, Shape};
use flashdrill::load::spec::{Load, LoadSpec, Loop};
use flashdrill::load::summary::LoadSummary;
use flashdrill::load::{LoadError, LoadJob, Progress, reason, run, timeline};
use flashdrill::target::{AnswerOutcome, AnswerRule, RequestTemplate, Requests, Target};

/// A constant rate on a few connections, nobody clicking twice or paying.
pub fn spec(rate_per_s: f64, duration_ms: u64) -> LoadSpec {
    LoadSpec {
        seed: 7,
        sale: "sale".into(),
        skus: ["s0", "s1", "s2"].map(str::to_owned).into(),
        load: Load {
            schedule: Schedule::of(vec![Phase {
                name: "only".into(),
                shape: Shape::Constant {
                    rate_per_s,
                    duration_ms,
                },
            }]),
            connections: 8,
            depth: 1,
            timeout_ms: 2_000,
            fitted: None,
        },
        kind: Loop::Open,
        population: Population {
            follow_up_after_ms: 50,
            ..Population::of(1_000_000)
        },
        target: target(),
    }
}

fn target() -> Target {
    use AnswerOutcome::{Accepted, Refused, Unknown};
    Target {
        name: "test".into(),
        requests: Requests {
            buy: request(
                "POST",
                "/orders",
                r#"{"sale":"{sale}","sku":"{sku}","user":"{user}","quantity":{quantity},"request_id":"{request_id}"}"#,
            ),
            status: request("GET", "/orders/{order_id}", ""),
            pay: request("POST", "/orders/{order_id}/pay", ""),
            cancel: request("POST", "/orders/{order_id}/cancel", ""),
            ..Requests::default()
        },
        answers: vec![
            rule(202, "", Accepted, "", false),
            rule(200, "", Accepted, "", false),
            rule(409, "sold_out", Refused, "sold_out", false),
            rule(409, "", Refused, "conflict", false),
            rule(503, "paused", Refused, "paused", true),
            rule(500, "", Unknown, "broken", false),
        ],
        order_id_field: "order_id".into(),
        ..Target::default()
    }
}

fn request(method: &str, path: &str, body: &str) -> RequestTemplate {
    RequestTemplate {
        method: method.into(),
        path: path.into(),
        headers: [("Content-Type".to_owned(), "application/json".to_owned())].into(),
        body: body.into(),
    }
}

fn rule(
    status: u16,
    contains: &str,
    outcome: AnswerOutcome,
    reason: &str,
    outage: bool,
) -> AnswerRule {
    AnswerRule {
        status,
        contains: contains.into(),
        outcome,
        reason: reason.into(),
        outage,
        retryable: None,
        outside_sale: false,
        sold_out: false,
    }
}

/// What a load left behind.
pub struct Ran {
    pub summary: LoadSummary,
    pub operations: Vec<Operation>,
    pub reasons: Vec<String>,
    pub progress: Arc<Progress>,
    pub response_log: String,
}

impl Ran {
    /// Name of an operation's reason.
    pub fn reason(&self, operation: &Operation) -> &str {
        &self.reasons[usize::from(operation.reason)]
    }

    /// Buys that ended as `outcome` names it: `accepted`, `refused:sold_out`, ...
    pub fn count(&self, outcome: &str) -> u64 {
        self.summary.outcomes.get(outcome).copied().unwrap_or(0)
    }
}

pub fn ran(spec: &LoadSpec, address: SocketAddr) -> Ran {
    try_run(spec, Endpoint::at(address).unwrap(), &Arc::default()).unwrap()
}

pub fn try_run(
    spec: &LoadSpec,
    endpoint: Endpoint,
    cancel: &Arc<AtomicBool>,
) -> Result<Ran, LoadError> {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let run_number = RUNS.fetch_add(1, Ordering::Relaxed);
    let folder = Folder::new(&format!("fd-load-{}-{run_number}", std::process::id()));
    let file = folder.0.join("history");
    let log = folder.0.join("response.hlog");
    let progress = Arc::new(Progress::default());
    let reasons = reason::reasons(&spec.target);
    // A fault was injected before the first arrival.
    let epoch = Arc::new(FaultEpoch::default());
    epoch.advance();
    let figures = run(LoadJob {
        spec: spec.clone(),
        endpoint,
        variables: BTreeMap::new(),
        history: Some(HistoryWriter::create(&file, spec.seed, reasons.clone()).unwrap()),
        start: Instant::now() + Duration::from_millis(50),
        progress: Arc::clone(&progress),
        epoch: Arc::clone(&epoch),
        cancel: Arc::clone(cancel),
    })?;
    timeline::write_log(&figures.seconds, &log).unwrap();
    let operations = HistoryReader::open(&file).unwrap().map(Result::unwrap);
    let operations: Vec<Operation> = operations.collect();
    assert!(operations.iter().all(|one| one.fault_epoch == 1));
    Ok(Ran {
        operations,
        response_log: std::fs::read_to_string(&log).unwrap(),
        summary: figures.summary(),
        reasons,
        progress,
    })
}

/// Removed with everything in it.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
