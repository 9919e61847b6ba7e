//! REST client for Toxiproxy's API, as the faults use it. Works with the built-in proxy and with the
//! real one, but for [`ProxyClient::traffic`], which only the built-in one serves.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use reqwest::{Client, Method, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use super::collection::{LinkRequest, LinkUpdate};
pub use super::link::LinkView;

use super::error::ProxyError;
use super::toxic::{Effect, Stream, Toxic};
use super::traffic::Traffic;

/// The real Toxiproxy can dead-lock in its API; a heal must not hang with it.
const CALL_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug, Clone)]
pub struct ProxyClient {
    base: String,
    http: Client,
}

impl ProxyClient {
    pub fn new(api: SocketAddr) -> Self {
        Self {
            base: format!("http://{api}"),
            http: Client::new(),
        }
    }

    pub async fn version(&self) -> Result<String, ProxyError> {
        let answer: BTreeMap<String, String> = self.get("/version").await?;
        Ok(answer.get("version").cloned().unwrap_or_default())
    }

    pub async fn proxies(&self) -> Result<BTreeMap<String, LinkView>, ProxyError> {
        self.get("/proxies").await
    }

    /// Creates the proxy, or changes the one of that name.
    pub async fn put(&self, request: &LinkRequest) -> Result<(), ProxyError> {
        self.send(Method::POST, "/populate", Some(&[request]))
            .await
            .map(drop)
    }

    /// `false` closes the listener and all connections of the link: connects are refused.
    pub async fn set_enabled(&self, proxy: &str, enabled: bool) -> Result<(), ProxyError> {
        let update = LinkUpdate {
            enabled: Some(enabled),
            ..LinkUpdate::default()
        };
        self.send(Method::POST, &format!("/proxies/{proxy}"), Some(&update))
            .await
            .map(drop)
    }

    pub async fn add_toxic(&self, proxy: &str, toxic: &Toxic) -> Result<(), ProxyError> {
        self.send(
            Method::POST,
            &format!("/proxies/{proxy}/toxics"),
            Some(toxic),
        )
        .await
        .map(drop)
    }

    /// Swallows what flows in `stream` until the toxic is removed.
    pub async fn black_hole(&self, proxy: &str, stream: Stream) -> Result<(), ProxyError> {
        self.add_toxic(proxy, &Toxic::new(stream, Effect::Timeout { timeout: 0 }))
            .await
    }

    pub async fn toxics(&self, proxy: &str) -> Result<Vec<Toxic>, ProxyError> {
        self.get(&format!("/proxies/{proxy}/toxics")).await
    }

    /// Removes every toxic of one link; toxics that are gone already are no error.
    pub async fn clear(&self, proxy: &str) -> Result<(), ProxyError> {
        for toxic in self.toxics(proxy).await? {
            let path = format!("/proxies/{proxy}/toxics/{}", toxic.name);
            match self.send::<()>(Method::DELETE, &path, None).await {
                Ok(_) | Err(ProxyError::Answer { status: 404, .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Removes every toxic and enables every link.
    pub async fn reset(&self) -> Result<(), ProxyError> {
        self.send::<()>(Method::POST, "/reset", None)
            .await
            .map(drop)
    }

    pub async fn traffic(&self, proxy: &str) -> Result<Traffic, ProxyError> {
        self.get(&format!("/proxies/{proxy}/traffic")).await
    }

    async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ProxyError> {
        let body = self.send::<()>(Method::GET, path, None).await?;
        serde_json::from_slice(&body).map_err(|e| call_error("GET", path, &e))
    }

    async fn send<B: Serialize + ?Sized>(
        &self,
        method: Method,
        path: &str,
        body: Option<&B>,
    ) -> Result<Vec<u8>, ProxyError> {
        let name = method_name(&method);
        let mut request = self
            .http
            .request(method, format!("{}{path}", self.base))
            .timeout(CALL_TIMEOUT);
        if let Some(body) = body {
            request = request.json(body);
        }
        let answer = request
            .send()
            .await
            .map_err(|e| call_error(name, path, &e))?;
        let status = answer.status();
        let bytes = answer
            .bytes()
            .await
            .map_err(|e| call_error(name, path, &e))?;
        if status.is_success() {
            return Ok(bytes.to_vec());
        }
        Err(answer_error(name, path, status, &bytes))
    }
}

fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::DELETE => "DELETE",
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
    let reason = serde_json::from_slice::<serde_json::Value>(body)
        .ok()
        .and_then(|v| v.get("error").and_then(|e| e.as_str().map(str::to_owned)))
        .unwrap_or_else(|| String::from_utf8_lossy(body).into_owned());
    ProxyError::Answer {
        method,
        path: path.to_owned(),
        status: status.as_u16(),
        reason,
    }
}
