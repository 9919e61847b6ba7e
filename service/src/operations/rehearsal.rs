//! Calls that make this node misbehave on purpose, in a build with the feature `failpoints` only.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Path;
use axum::http::{Response, StatusCode};
use axum::routing::put;
use axum::{Json, Router};
use serde::Deserialize;

use crate::failpoints;
use crate::gateway::App;
use crate::gateway::problem::{json, problem_with_detail};
use crate::gateway::reason::Reason;
use crate::sale::clock;

/// `PUT /ops/v1/failpoints/{name}`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Failpoint {
    /// As [`failpoints::arm`] takes them.
    actions: String,
}

/// `PUT /ops/v1/clock`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Clock {
    /// Ahead of the machine's clock; negative: behind it. The answer's `now_ms` is what the clock reads then.
    offset_ms: i64,
}

pub fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/failpoints/{name}", put(put_failpoint))
        .route("/clock", put(put_clock))
}

async fn put_failpoint(Path(name): Path<String>, Json(given): Json<Failpoint>) -> Response<Body> {
    tracing::warn!(name, actions = given.actions, "failpoint");
    match failpoints::arm(&name, &given.actions) {
        Ok(()) => json(StatusCode::OK, "{}".to_owned()),
        Err(error) => problem_with_detail(Reason::BadRequest, &error),
    }
}

async fn put_clock(Json(given): Json<Clock>) -> Response<Body> {
    tracing::warn!(offset_ms = given.offset_ms, "clock set");
    clock::set_offset_ms(given.offset_ms);
    let answer = format!(r#"{{"now_ms":{}}}"#, clock::now_ms());
    json(StatusCode::OK, answer)
}
