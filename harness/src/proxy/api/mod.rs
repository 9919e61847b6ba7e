//! The REST API: Toxiproxy's paths, bodies and statuses, and ours beside them.

mod cuts;
mod leases;
mod proxies;
mod toxics;

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use axum::{Json, Router};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::collection::Collection;
use super::error::ProxyError;
use super::lease::LEASE_HEADER;
use super::metrics;

/// Clients take the version for the set of features; this is the release whose API is served.
pub const VERSION: &str = concat!("2.12.0+flashdrill-", env!("CARGO_PKG_VERSION"));

type Proxies = State<Arc<Collection>>;

pub fn router(collection: Arc<Collection>) -> Router {
    Router::new()
        .route("/version", get(version))
        .route("/metrics", get(metrics))
        .route("/reset", post(reset))
        .route("/populate", post(proxies::populate))
        .route("/proxies", get(proxies::list).post(proxies::create))
        .route(
            "/proxies/{name}",
            get(proxies::show)
                .post(proxies::update)
                .patch(proxies::update)
                .delete(proxies::remove),
        )
        .route("/proxies/{name}/traffic", get(proxies::traffic))
        .route("/proxies/{name}/connections", get(proxies::connections))
        .route("/proxies/{name}/rst", post(proxies::rst))
        .route("/proxies/{name}/protocol", put(cuts::follow))
        .route("/proxies/{name}/cuts", get(cuts::list).post(cuts::add))
        .route(
            "/proxies/{name}/cuts/{cut}",
            get(cuts::show).delete(cuts::remove),
        )
        .route(
            "/proxies/{name}/toxics",
            get(toxics::list).post(toxics::add),
        )
        .route(
            "/proxies/{name}/toxics/{toxic}",
            get(toxics::show)
                .post(toxics::update)
                .patch(toxics::update)
                .delete(toxics::remove),
        )
        .route("/leases", get(leases::list))
        .route("/leases/{id}", put(leases::renew).delete(leases::remove))
        .layer(middleware::from_fn(refuse_browsers))
        .with_state(collection)
}

impl IntoResponse for ProxyError {
    fn into_response(self) -> Response {
        let status =
            StatusCode::from_u16(self.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, Json(error_body(&self))).into_response()
    }
}

/// Toxiproxy's two fields, and our sentence beside them.
fn error_body(error: &ProxyError) -> Value {
    json!({
        "error": error.toxiproxy_text(),
        "status": error.status(),
        "detail": error.to_string(),
    })
}

/// Like Toxiproxy, no more than the first JSON value of the body.
fn read<T: DeserializeOwned>(body: &Bytes) -> Result<T, ProxyError> {
    let mut json = serde_json::Deserializer::from_slice(body);
    T::deserialize(&mut json).map_err(|e| ProxyError::BadBody {
        reason: e.to_string(),
    })
}

/// The lease named by the request, if it lives.
fn lease(collection: &Collection, headers: &HeaderMap) -> Result<Option<String>, ProxyError> {
    let Some(id) = headers.get(LEASE_HEADER) else {
        return Ok(None);
    };
    let id = String::from_utf8_lossy(id.as_bytes()).into_owned();
    collection.leases.check(&id)?;
    Ok(Some(id))
}

/// A page in a browser could reach this port; like Toxiproxy, no browser is served.
async fn refuse_browsers(request: Request, next: Next) -> Response {
    let agent = request.headers().get(header::USER_AGENT);
    if agent.is_some_and(|agent| agent.as_bytes().starts_with(b"Mozilla/")) {
        return (StatusCode::FORBIDDEN, "User agent not allowed\n").into_response();
    }
    next.run(request).await
}

async fn version() -> Json<Value> {
    Json(json!({ "version": VERSION }))
}

async fn metrics(State(proxies): Proxies) -> impl IntoResponse {
    let links = proxies.all().await;
    let text = metrics::text(links.values().map(AsRef::as_ref));
    ([(header::CONTENT_TYPE, metrics::CONTENT_TYPE)], text)
}

async fn reset(State(proxies): Proxies) -> Result<StatusCode, ProxyError> {
    proxies.reset().await?;
    Ok(StatusCode::NO_CONTENT)
}
