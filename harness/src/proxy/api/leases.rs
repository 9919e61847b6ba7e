//! `/leases`, ours.

use std::collections::BTreeMap;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;

use super::super::error::ProxyError;
use super::super::lease::LeaseView;
use super::{Proxies, read};

pub async fn list(State(proxies): Proxies) -> Json<BTreeMap<String, LeaseView>> {
    Json(proxies.leases.list())
}

pub async fn renew(
    State(proxies): Proxies,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<StatusCode, ProxyError> {
    proxies.leases.renew(&id, read(&body)?);
    Ok(StatusCode::NO_CONTENT)
}

pub async fn remove(
    State(proxies): Proxies,
    Path(id): Path<String>,
) -> Result<StatusCode, ProxyError> {
    proxies.leases.remove(&id)?;
    proxies.end_lease(&id).await;
    Ok(StatusCode::NO_CONTENT)
}
