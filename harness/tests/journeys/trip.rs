//! Journeys of a test: a plan for them, and what they left behind.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use flashdrill::drill::plan::Plan;
use flashdrill::history::operation::Operation;
use flashdrill::history::{FaultEpoch, HistoryReader, HistoryWriter};
use flashdrill::journeys::{JourneyError, JourneyJob, JourneySummary, Journeys};
use flashdrill::load::endpoint::Endpoint;
use flashdrill::load::reason;
use flashdrill::load::schedule::{Phase, Shape};
use flashdrill::target::{AnswerOutcome, AnswerRule, RequestTemplate, StateQueries};

/// Goose has one switch for the whole process.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// What journeys left behind.
#[derive(Debug)]
pub struct Trip {
    pub summary: JourneySummary,
    pub operations: Vec<Operation>,
    pub reasons: Vec<String>,
}

impl Trip {
    /// Operations with this reason.
    pub fn with_reason(&self, reason: &str) -> usize {
        let at = self.reasons.iter().position(|one| one == reason).unwrap();
        let all = self.operations.iter();
        all.filter(|one| usize::from(one.reason) == at).count()
    }
}

/// Four buyers for `duration_ms` who hardly think.
pub fn plan(duration_ms: u64) -> Plan {
    let mut plan = crate::plan::sale_of(&[("s0", 10), ("s1", 10)], StateQueries::default());
    plan.seed = 7;
    plan.population.users = 100;
    plan.load.schedule.phases = vec![Phase {
        name: "only".into(),
        shape: Shape::Constant {
            rate_per_s: 1.0,
            duration_ms,
        },
    }];
    plan.journeys = Some(Journeys {
        users: 4,
        hatch_per_s: 1_000.0,
        think_ms: 5,
        pay_share: 0.4,
        cancel_share: 0.3,
        poll_every_ms: 5,
        poll_max: 5,
        starts_at_ms: 0,
    });
    let target = &mut plan.target;
    target.status_field = "state".into();
    target.answers = vec![
        rule(202, "", AnswerOutcome::Accepted, ""),
        rule(409, "sold_out", AnswerOutcome::Refused, "sold_out"),
    ];
    use flashdrill::history::final_state::OrderState::{Created, Rejected};
    target.state.order_states = [("created".into(), Created), ("rejected".into(), Rejected)].into();
    let body =
        r#"{"sku":"{sku}","user":"{user}","quantity":{quantity},"request_id":"{request_id}"}"#;
    target.requests.buy = request("POST", "/orders", body);
    target.requests.status = request("GET", "/orders/{order_id}", "");
    target.requests.pay = request("POST", "/orders/{order_id}/pay", "");
    target.requests.cancel = request("POST", "/orders/{order_id}/cancel", "");
    plan
}

pub fn request(method: &str, path: &str, body: &str) -> RequestTemplate {
    RequestTemplate {
        method: method.into(),
        path: path.into(),
        headers: [("content-type".to_owned(), "application/json".to_owned())].into(),
        body: body.into(),
    }
}

fn rule(status: u16, contains: &str, outcome: AnswerOutcome, reason: &str) -> AnswerRule {
    AnswerRule {
        status,
        contains: contains.into(),
        outcome,
        reason: reason.into(),
        outage: false,
        retryable: None,
        outside_sale: false,
        sold_out: false,
    }
}

/// Makes the journeys to their end.
pub fn travel(plan: &Plan, address: SocketAddr) -> Trip {
    try_travel(plan, address, None).unwrap()
}

/// Makes them, with Ctrl-C so long after the first arrival.
pub fn try_travel(
    plan: &Plan,
    address: SocketAddr,
    ctrl_c_after: Option<Duration>,
) -> Result<Trip, JourneyError> {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    // Goose makes a logger of its own where there is none.
    let _ = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::ERROR)
        .try_init();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journeys.bin");
    let reasons = reason::reasons(&plan.target);
    let cancel = Arc::new(AtomicBool::new(false));
    // As in a run: everybody gets ready before the first arrival.
    let start = Instant::now() + Duration::from_millis(500);
    let job = JourneyJob {
        plan,
        journeys: plan.journeys.as_ref().unwrap(),
        endpoint: Endpoint::at(address).unwrap(),
        variables: [].into(),
        history: HistoryWriter::create(&path, plan.seed, reasons.clone()).unwrap(),
        start,
        epoch: Arc::new(FaultEpoch::default()),
        cancel: Arc::clone(&cancel),
    };
    let journeys = job.prepare()?;
    if let Some(after) = ctrl_c_after {
        std::thread::spawn(move || {
            std::thread::sleep(start + after - Instant::now());
            cancel.store(true, Ordering::Relaxed);
        });
    }
    let summary = journeys.run();
    Ok(Trip {
        summary,
        operations: read(&path),
        reasons,
    })
}

fn read(path: &Path) -> Vec<Operation> {
    let reader = HistoryReader::open(path).unwrap();
    reader.map(Result::unwrap).collect()
}
