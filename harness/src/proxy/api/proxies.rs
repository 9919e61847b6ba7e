//! `/proxies`, `/populate`, and what a proxy tells of itself.

use std::collections::BTreeMap;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use super::super::collection::{LinkRequest, LinkUpdate, Populated};
use super::super::connection::ConnectionView;
use super::super::error::ProxyError;
use super::super::link::LinkView;
use super::super::traffic::Traffic;
use super::{Proxies, error_body, lease, read};

pub async fn list(State(proxies): Proxies) -> Json<BTreeMap<String, LinkView>> {
    let links = proxies.all().await;
    let views = links.into_iter().map(|(name, link)| (name, link.view()));
    Json(views.collect())
}

pub async fn create(
    State(proxies): Proxies,
    body: Bytes,
) -> Result<(StatusCode, Json<LinkView>), ProxyError> {
    let request: LinkRequest = read(&body)?;
    Ok((StatusCode::CREATED, Json(proxies.create(&request).await?)))
}

/// The proxies made before an error are in its answer, as in Toxiproxy; none is `null`.
pub async fn populate(
    State(proxies): Proxies,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), ProxyError> {
    let Populated { views, error } = proxies.populate(&read::<Vec<LinkRequest>>(&body)?).await;
    let (status, mut answer) = match &error {
        Some(error) => (error.status(), error_body(error)),
        None => (StatusCode::CREATED.as_u16(), json!({})),
    };
    answer["proxies"] = if views.is_empty() {
        Value::Null
    } else {
        json!(views)
    };
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    Ok((status, Json(answer)))
}

pub async fn show(
    State(proxies): Proxies,
    Path(name): Path<String>,
) -> Result<Json<LinkView>, ProxyError> {
    Ok(Json(proxies.get(&name).await?.view()))
}

pub async fn update(
    State(proxies): Proxies,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<LinkView>, ProxyError> {
    proxies.get(&name).await?;
    let update: LinkUpdate = read(&body)?;
    let lease = lease(&proxies, &headers)?;
    Ok(Json(proxies.update(&name, &update, lease).await?))
}

pub async fn remove(
    State(proxies): Proxies,
    Path(name): Path<String>,
) -> Result<StatusCode, ProxyError> {
    proxies.remove(&name).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub async fn traffic(
    State(proxies): Proxies,
    Path(name): Path<String>,
) -> Result<Json<Traffic>, ProxyError> {
    Ok(Json(proxies.get(&name).await?.traffic()))
}

pub async fn connections(
    State(proxies): Proxies,
    Path(name): Path<String>,
) -> Result<Json<Vec<ConnectionView>>, ProxyError> {
    Ok(Json(proxies.get(&name).await?.connections()))
}

pub async fn rst(
    State(proxies): Proxies,
    Path(name): Path<String>,
) -> Result<Json<Value>, ProxyError> {
    let count = proxies.get(&name).await?.reset_connections();
    Ok(Json(json!({ "connections_reset": count })))
}
