//! Calls of a proxy's REST API, and what their failures say.

use std::net::SocketAddr;
use std::time::Duration;

use reqwest::{Client, Method, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::super::error::ProxyError;
use super::super::lease::LEASE_HEADER;

/// The real Toxiproxy can dead-lock in its API; a heal must not hang with it.
const CALL_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug, Clone)]
pub struct Http {
    base: String,
    client: Client,
    pub lease: Option<String>,
}

impl Http {
    pub fn new(api: SocketAddr) -> Self {
        Self {
            base: format!("http://{api}"),
            client: Client::new(),
            lease: None,
        }
    }

    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ProxyError> {
        parse("GET", path, &self.call(Method::GET, path).await?)
    }

    pub async fn call(&self, method: Method, path: &str) -> Result<Vec<u8>, ProxyError> {
        self.send(method, path, None::<&()>).await
    }

    pub async fn send<B: Serialize + ?Sized>(
        &self,
        method: Method,
        path: &str,
        body: Option<&B>,
    ) -> Result<Vec<u8>, ProxyError> {
        let name = method_name(&method);
        let mut request = self
            .client
            .request(method, format!("{}{path}", self.base))
            .timeout(CALL_TIMEOUT);
        if let Some(lease) = &self.lease {
            request = request.header(LEASE_HEADER, lease);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let failed = |e: reqwest::Error| call_error(name, path, &e);
        let answer = request.send().await.map_err(failed)?;
        let status = answer.status();
        let bytes = answer.bytes().await.map_err(failed)?;
        if status.is_success() {
            return Ok(bytes.to_vec());
        }
        Err(answer_error(name, path, status, &bytes))
    }
}

pub fn parse<T: DeserializeOwned>(
    method: &'static str,
    path: &str,
    body: &[u8],
) -> Result<T, ProxyError> {
    serde_json::from_slice(body).map_err(|e| call_error(method, path, &e))
}

fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::DELETE => "DELETE",
        Method::PUT => "PUT",
        _ => "POST",
    }
}

fn call_error(method: &'static str, path: &str, error: &dyn std::error::Error) -> ProxyError {
    // reqwest says little itself; the reason is at the end of the chain.
    let mut reason = error.to_string();
    let mut source = error.source();
    while let Some(deeper) = source {
        reason = format!("{reason}: {deeper}");
        source = deeper.source();
    }
    ProxyError::Call {
        method,
        path: path.to_owned(),
        reason,
    }
}

fn answer_error(method: &'static str, path: &str, status: StatusCode, body: &[u8]) -> ProxyError {
    let text = |value: &Value, field: &str| Some(value.get(field)?.as_str()?.to_owned());
    let reason = serde_json::from_slice::<Value>(body)
        .ok()
        .and_then(|value| text(&value, "detail").or_else(|| text(&value, "error")))
        .unwrap_or_else(|| String::from_utf8_lossy(body).into_owned());
    ProxyError::Answer {
        method,
        path: path.to_owned(),
        status: status.as_u16(),
        reason,
    }
}
