//! Alive, ready, metrics.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{Response, StatusCode};

use crate::gateway::App;
use crate::gateway::problem::json;

/// `GET /healthz`: the process answers.
pub async fn alive() -> &'static str {
    "alive\n"
}

/// `GET /readyz`: MySQL answers, every Redis slot has its primary, the queue is connected.
pub async fn ready(State(app): State<Arc<App>>) -> Response<Body> {
    let (mysql, redis) = (app.store.ping().await.is_ok(), app.stock.is_complete());
    let queue = app.queues.are_connected(&app.desk.catalogue);
    let backlog = app.queues.backlog().await;
    let is_ready = mysql && redis && queue;
    let status = if is_ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    let body = serde_json::json!({
        "ready": is_ready, "mysql": mysql, "redis": redis, "queue": queue, "backlog": backlog,
    });
    json(status, body.to_string())
}

/// `GET /metrics`: Prometheus text.
pub async fn metrics(State(app): State<Arc<App>>) -> String {
    app.prometheus.run_upkeep();
    app.prometheus.render()
}
