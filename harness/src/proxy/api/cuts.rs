//! `/proxies/{p}/cuts` and `/proxies/{p}/protocol`, ours.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};

use super::super::cut::{Cut, CutView, FollowRequest};
use super::super::error::ProxyError;
use super::{Proxies, lease, read};

/// Connections that open from now on are followed from their first byte.
pub async fn follow(
    State(proxies): Proxies,
    Path(name): Path<String>,
    body: Bytes,
) -> Result<StatusCode, ProxyError> {
    let FollowRequest { protocol } = read(&body)?;
    proxies.get(&name).await?.follow(protocol)?;
    Ok(StatusCode::NO_CONTENT)
}

pub async fn list(
    State(proxies): Proxies,
    Path(name): Path<String>,
) -> Result<Json<Vec<CutView>>, ProxyError> {
    Ok(Json(proxies.get(&name).await?.cuts()))
}

pub async fn add(
    State(proxies): Proxies,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<CutView>, ProxyError> {
    let cut: Cut = read(&body)?;
    let lease = lease(&proxies, &headers)?;
    Ok(Json(
        proxies.get(&name).await?.add_cut(&cut.named(), lease)?,
    ))
}

pub async fn show(
    State(proxies): Proxies,
    Path((name, cut)): Path<(String, String)>,
) -> Result<Json<CutView>, ProxyError> {
    Ok(Json(proxies.get(&name).await?.cut(&cut)?))
}

/// Connections that hang at the cut are reset.
pub async fn remove(
    State(proxies): Proxies,
    Path((name, cut)): Path<(String, String)>,
) -> Result<StatusCode, ProxyError> {
    proxies.get(&name).await?.remove_cut(&cut)?;
    Ok(StatusCode::NO_CONTENT)
}
