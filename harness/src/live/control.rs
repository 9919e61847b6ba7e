//! The keeper's side: takes faults in, drives them, tells what is broken.
//!
//! `GET /faults`; `POST /faults` with the keys of a drill file's `[[faults]]`; `DELETE /faults/{id}` and `DELETE
//! /faults` answer when the faults are healed. Wrong keys are answered 422 with every problem in words.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Path as UrlPath, State};
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::Value;
use tokio::net::UnixListener;

use super::SOCKET;
use super::board::{Board, LiveFault};
use crate::drill::file::FaultSection;
use crate::drill::plan::Sku;
use crate::drill::problems::Problems;
use crate::environment::Stack;
use crate::faults::{self, FaultEvent, Grounds, PlannedFault, Site, Timeline, Unmet};
use crate::history::FaultEpoch;
use crate::target::Target;
use crate::target::template::Variables;

/// How long a person waits for a receipt.
const RECEIPT_WAIT: Duration = Duration::from_secs(3);

/// What faults injected by hand are injected into.
#[derive(Debug)]
pub struct Control {
    pub stack: Arc<Stack>,
    /// The service that runs on it, if one does: faults of a SKU need its Redis commands.
    pub target: Target,
    pub variables: Variables,
    pub skus: Vec<Sku>,
    pub board: Board,
    /// When the stack was up: zero of the times of events.
    pub clock: Instant,
}

/// Serves the socket in `folder` until it is dropped.
///
/// # Errors
/// The socket cannot be made, or serving ends.
pub async fn serve(control: Arc<Control>, folder: &Path) -> io::Result<()> {
    let listener = UnixListener::bind(socket(folder))?;
    let router = Router::new()
        .route("/faults", get(list).post(inject).delete(heal_all))
        .route("/faults/{id}", axum::routing::delete(heal))
        .with_state(control);
    axum::serve(listener, router).await
}

pub(super) fn socket(folder: &Path) -> PathBuf {
    folder.join(SOCKET)
}

type Refusal = (StatusCode, String);

async fn list(State(control): State<Arc<Control>>) -> Json<Vec<LiveFault>> {
    Json(control.board.faults())
}

/// Answers once there is a receipt, or the reason why there is none; or without either when nothing has shown the
/// fault's effect yet, as on a link that nobody uses.
async fn inject(
    State(control): State<Arc<Control>>,
    Json(keys): Json<Value>,
) -> Result<Json<LiveFault>, Refusal> {
    let section: FaultSection = deserr::deserialize(keys).map_err(|wrong: Problems| {
        let message = format!("{} problem(s){wrong}", wrong.0.len());
        (StatusCode::UNPROCESSABLE_ENTITY, message)
    })?;
    let planned = PlannedFault {
        at_ms: 0,
        for_ms: section.for_ms.map(|ms| ms.get().into()),
        fault: section.fault,
    };
    let planned = [planned];
    let grounds = Grounds {
        setting: control.stack.setting(),
        target: &control.target,
        service_nodes: 1,
    };
    if let Some(unmet) = faults::unmet(&planned, grounds).first() {
        let Unmet { kind, lack, .. } = unmet;
        return Err((StatusCode::UNPROCESSABLE_ENTITY, format!("{kind} {lack}")));
    }
    let [planned] = planned;
    let (id, heal) = control.board.add(FaultEvent::planned(&planned));
    let keeper = Arc::clone(&control);
    tokio::spawn(async move {
        let site = Site {
            stack: &keeper.stack,
            target: &keeper.target,
            variables: &keeper.variables,
            skus: &keeper.skus,
        };
        let epoch = FaultEpoch::default();
        let timeline = Timeline {
            epoch: &epoch,
            clock: keeper.clock,
            cancel: &heal,
            tell: &|event| keeper.board.note(id, event, false),
        };
        for event in faults::run(&[planned], site, timeline).await {
            keeper.board.note(id, &event, true);
        }
    });
    let settled = control.board.wait_until(id, LiveFault::is_settled);
    let fault = match tokio::time::timeout(RECEIPT_WAIT, settled).await {
        Ok(fault) => fault,
        Err(_) => control.board.wait_until(id, |_| true).await,
    };
    fault.map(Json).ok_or_else(|| unknown(id))
}

async fn heal(
    State(control): State<Arc<Control>>,
    UrlPath(id): UrlPath<u32>,
) -> Result<Json<Vec<LiveFault>>, Refusal> {
    let healed = control.heal(Some(id)).await;
    if healed.is_empty() {
        return Err(unknown(id));
    }
    Ok(Json(healed))
}

async fn heal_all(State(control): State<Arc<Control>>) -> Json<Vec<LiveFault>> {
    Json(control.heal(None).await)
}

fn unknown(id: u32) -> Refusal {
    let message = format!("no fault {id} is in force; `flashdrill ps` shows those that are");
    (StatusCode::NOT_FOUND, message)
}

impl Control {
    /// Heals one fault, or all, and waits until they are.
    pub async fn heal(&self, id: Option<u32>) -> Vec<LiveFault> {
        let mut healed = Vec::new();
        for id in self.board.heal(id) {
            healed.extend(self.board.wait_until(id, |fault| fault.over).await);
        }
        healed
    }
}
