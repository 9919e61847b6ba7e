//! The REST API: Toxiproxy's paths, bodies and statuses, and `/proxies/{name}/traffic` beside them.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::collection::{Collection, LinkRequest, LinkUpdate};
use super::error::ProxyError;
use super::link::LinkView;
use super::toxic::Toxic;
use super::traffic::Traffic;

/// Clients take the version for the set of features; this is the release whose API is served.
pub const VERSION: &str = concat!("2.12.0+flashdrill-", env!("CARGO_PKG_VERSION"));

type Proxies = State<Arc<Collection>>;

pub fn router(collection: Arc<Collection>) -> Router {
    Router::new()
        .route(
            "/version",
            get(|| async { Json(json!({ "version": VERSION })) }),
        )
        .route("/proxies", get(list).post(create))
        .route("/populate", post(populate))
        .route("/reset", post(reset))
        .route(
            "/proxies/{name}",
            get(show).post(update).patch(update).delete(remove),
        )
        .route("/proxies/{name}/traffic", get(traffic))
        .route("/proxies/{name}/toxics", get(toxics).post(add_toxic))
        .route(
            "/proxies/{name}/toxics/{toxic}",
            get(show_toxic)
                .post(update_toxic)
                .patch(update_toxic)
                .delete(remove_toxic),
        )
        .with_state(collection)
}

impl IntoResponse for ProxyError {
    fn into_response(self) -> Response {
        let status =
            StatusCode::from_u16(self.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (
            status,
            Json(json!({ "error": self.to_string(), "status": status.as_u16() })),
        )
            .into_response()
    }
}

fn read<T: DeserializeOwned>(body: &Bytes) -> Result<T, ProxyError> {
    serde_json::from_slice(body).map_err(|e| ProxyError::BadBody {
        reason: e.to_string(),
    })
}

async fn list(State(proxies): Proxies) -> Json<BTreeMap<String, LinkView>> {
    Json(proxies.views().await)
}

async fn create(
    State(proxies): Proxies,
    body: Bytes,
) -> Result<(StatusCode, Json<LinkView>), ProxyError> {
    Ok((
        StatusCode::CREATED,
        Json(proxies.create(&read::<LinkRequest>(&body)?).await?),
    ))
}

async fn populate(
    State(proxies): Proxies,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), ProxyError> {
    let views = proxies.populate(&read::<Vec<LinkRequest>>(&body)?).await?;
    Ok((StatusCode::CREATED, Json(json!({ "proxies": views }))))
}

async fn reset(State(proxies): Proxies) -> Result<StatusCode, ProxyError> {
    proxies.reset().await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn show(
    State(proxies): Proxies,
    Path(name): Path<String>,
) -> Result<Json<LinkView>, ProxyError> {
    Ok(Json(proxies.get(&name).await?.view()))
}

async fn update(
    State(proxies): Proxies,
    Path(name): Path<String>,
    body: Bytes,
) -> Result<Json<LinkView>, ProxyError> {
    Ok(Json(
        proxies.update(&name, &read::<LinkUpdate>(&body)?).await?,
    ))
}

async fn remove(
    State(proxies): Proxies,
    Path(name): Path<String>,
) -> Result<StatusCode, ProxyError> {
    proxies.remove(&name).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn traffic(
    State(proxies): Proxies,
    Path(name): Path<String>,
) -> Result<Json<Traffic>, ProxyError> {
    Ok(Json(proxies.get(&name).await?.traffic()))
}

async fn toxics(
    State(proxies): Proxies,
    Path(name): Path<String>,
) -> Result<Json<Vec<Toxic>>, ProxyError> {
    Ok(Json(proxies.get(&name).await?.toxics()))
}

async fn add_toxic(
    State(proxies): Proxies,
    Path(name): Path<String>,
    body: Bytes,
) -> Result<Json<Toxic>, ProxyError> {
    Ok(Json(proxies.get(&name).await?.add_toxic(read(&body)?)?))
}

async fn show_toxic(
    State(proxies): Proxies,
    Path((name, toxic)): Path<(String, String)>,
) -> Result<Json<Toxic>, ProxyError> {
    Ok(Json(proxies.get(&name).await?.toxic(&toxic)?))
}

/// Name, type and stream of a toxic cannot change; the attributes given replace the old ones one by
/// one.
async fn update_toxic(
    State(proxies): Proxies,
    Path((name, toxic)): Path<(String, String)>,
    body: Bytes,
) -> Result<Json<Toxic>, ProxyError> {
    let link = proxies.get(&name).await?;
    let changes: Map<String, Value> = read(&body)?;
    let updated = merged(&link.toxic(&toxic)?, &changes)?;
    Ok(Json(link.update_toxic(updated)?))
}

fn merged(toxic: &Toxic, changes: &Map<String, Value>) -> Result<Toxic, ProxyError> {
    let bad = |e: serde_json::Error| ProxyError::BadBody {
        reason: e.to_string(),
    };
    let mut value = serde_json::to_value(toxic).map_err(bad)?;
    if let Some(toxicity) = changes.get("toxicity") {
        value["toxicity"] = toxicity.clone();
    }
    if let Some(Value::Object(attributes)) = changes.get("attributes") {
        for (key, attribute) in attributes {
            value["attributes"][key] = attribute.clone();
        }
    }
    serde_json::from_value(value).map_err(bad)
}

async fn remove_toxic(
    State(proxies): Proxies,
    Path((name, toxic)): Path<(String, String)>,
) -> Result<StatusCode, ProxyError> {
    proxies.get(&name).await?.remove_toxic(&toxic)?;
    Ok(StatusCode::NO_CONTENT)
}
