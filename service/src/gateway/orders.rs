//! The buyers' calls.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{Response, StatusCode};

use super::App;
use super::problem::{json, problem, problem_with, problem_with_detail};
use super::reason::Reason;
use crate::sale::buy::{Answer, Purchase};
use crate::sale::desk::Change;
use crate::sale::order::OrderId;
use crate::store::StoreError;

/// `POST /v1/orders`
pub async fn buy(app: &App, body: &[u8]) -> Response<Body> {
    let purchase: Purchase<'_> = match serde_json::from_slice(body) {
        Ok(purchase) => purchase,
        Err(error) => {
            app.metrics.answered(Reason::BadRequest);
            return problem_with_detail(Reason::BadRequest, &error.to_string());
        }
    };
    match app.shop.buy(&purchase).await {
        Answer::Queued(id) => accepted(app, Reason::Queued, id),
        Answer::Same(id) => accepted(app, Reason::Duplicate, id),
        Answer::Refused(reason) => {
            app.metrics.answered(reason);
            problem(reason)
        }
    }
}

fn accepted(app: &App, reason: Reason, id: OrderId) -> Response<Body> {
    app.metrics.answered(reason);
    json(
        reason.status(),
        format!(r#"{{"order_id":"{id}","state":"queued"}}"#),
    )
}

/// `GET /v1/orders/{id}`
pub async fn status(State(app): State<Arc<App>>, Path(id): Path<String>) -> Response<Body> {
    if OrderId::parse(&id).is_none() {
        return problem(Reason::UnknownOrder);
    }
    let Some(_seat) = app.desk.room.sit() else {
        return problem(Reason::Busy);
    };
    match app.desk.status(&id).await {
        Ok(Some(status)) => {
            let body = serde_json::json!({ "order_id": id, "state": status.state, "reason": status.reason });
            json(StatusCode::OK, body.to_string())
        }
        Ok(None) => problem(Reason::UnknownOrder),
        Err(error) => store_trouble(&error),
    }
}

/// `POST /v1/orders/{id}/pay`
pub async fn pay(State(app): State<Arc<App>>, Path(id): Path<String>) -> Response<Body> {
    match app.desk.room.sit() {
        Some(_seat) => changed(&id, app.desk.pay(&id).await),
        None => problem(Reason::Busy),
    }
}

/// `POST /v1/orders/{id}/cancel`
pub async fn cancel(State(app): State<Arc<App>>, Path(id): Path<String>) -> Response<Body> {
    match app.desk.room.sit() {
        Some(_seat) => changed(&id, app.desk.cancel(&id).await),
        None => problem(Reason::Busy),
    }
}

fn changed(id: &str, change: Result<Change, StoreError>) -> Response<Body> {
    match change {
        Ok(Change::Done(state)) => json(
            StatusCode::OK,
            serde_json::json!({ "order_id": id, "state": state }).to_string(),
        ),
        Ok(Change::Lost(state)) => {
            problem_with(Reason::StateConflict, &[("order_id", id), ("state", state)])
        }
        Ok(Change::UnknownOrder) => problem(Reason::UnknownOrder),
        Err(error) => store_trouble(&error),
    }
}

fn store_trouble(error: &StoreError) -> Response<Body> {
    tracing::warn!(%error, "order store");
    problem(Reason::StoreUnavailable)
}
