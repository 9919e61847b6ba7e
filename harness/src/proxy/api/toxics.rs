//! `/proxies/{name}/toxics`.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};

use super::super::error::ProxyError;
use super::super::toxic::{Toxic, ToxicRequest, ToxicUpdate};
use super::{Proxies, lease, read};

pub async fn list(
    State(proxies): Proxies,
    Path(name): Path<String>,
) -> Result<Json<Vec<Toxic>>, ProxyError> {
    Ok(Json(proxies.get(&name).await?.toxics()))
}

pub async fn add(
    State(proxies): Proxies,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<Toxic>, ProxyError> {
    let link = proxies.get(&name).await?;
    let mut toxic = Toxic::try_from(read::<ToxicRequest>(&body)?)?;
    toxic.lease = lease(&proxies, &headers)?;
    Ok(Json(link.add_toxic(toxic)?))
}

pub async fn show(
    State(proxies): Proxies,
    Path((name, toxic)): Path<(String, String)>,
) -> Result<Json<Toxic>, ProxyError> {
    Ok(Json(proxies.get(&name).await?.toxic(&toxic)?))
}

/// Name, type and stream of a toxic cannot change; the attributes given replace the old ones one by
/// one.
pub async fn update(
    State(proxies): Proxies,
    Path((name, toxic)): Path<(String, String)>,
    body: Bytes,
) -> Result<Json<Toxic>, ProxyError> {
    let link = proxies.get(&name).await?;
    let old = link.toxic(&toxic)?;
    let updated = read::<ToxicUpdate>(&body)?.apply(&old)?;
    Ok(Json(link.update_toxic(updated)?))
}

pub async fn remove(
    State(proxies): Proxies,
    Path((name, toxic)): Path<(String, String)>,
) -> Result<StatusCode, ProxyError> {
    proxies.get(&name).await?.remove_toxic(&toxic)?;
    Ok(StatusCode::NO_CONTENT)
}
