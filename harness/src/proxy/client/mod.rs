//! REST client for Toxiproxy's API, as the faults use it. Works with the built-in proxy and with the
//! real one, but for what is said to be ours: the real one answers 404 to it.

mod cuts;
mod http;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use reqwest::Method;
use serde::Deserialize;

pub use super::collection::{LinkRequest, LinkUpdate};
pub use super::connection::ConnectionView;
pub use super::link::LinkView;

use self::http::Http;
use super::error::ProxyError;
use super::lease::{LeaseRequest, LeaseView};
use super::toxic::{Effect, Stream, Toxic, ToxicUpdate};
use super::traffic::Traffic;

/// Which proxy answers: some faults need ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ProxyKind {
    /// Flashdrill's own.
    BuiltIn,
    /// Shopify's Toxiproxy, which can do less.
    Toxiproxy,
}

#[derive(Debug, Clone)]
pub struct ProxyClient {
    http: Http,
}

#[derive(Deserialize)]
struct VersionAnswer {
    version: String,
}

#[derive(Deserialize)]
struct ResetAnswer {
    connections_reset: u64,
}

impl ProxyClient {
    pub fn new(api: SocketAddr) -> Self {
        Self {
            http: Http::new(api),
        }
    }

    /// The same client; what it breaks is mended when the lease ends. Ours.
    #[must_use]
    pub fn under_lease(&self, id: &str) -> Self {
        let mut leased = self.clone();
        leased.http.lease = Some(id.to_owned());
        leased
    }

    pub async fn version(&self) -> Result<String, ProxyError> {
        let answer: VersionAnswer = self.http.get("/version").await?;
        Ok(answer.version)
    }

    pub async fn kind(&self) -> Result<ProxyKind, ProxyError> {
        let version = self.version().await?;
        Ok(if version.contains("flashdrill") {
            ProxyKind::BuiltIn
        } else {
            ProxyKind::Toxiproxy
        })
    }

    pub async fn proxies(&self) -> Result<BTreeMap<String, LinkView>, ProxyError> {
        self.http.get("/proxies").await
    }

    pub async fn proxy(&self, proxy: &str) -> Result<LinkView, ProxyError> {
        self.http.get(&format!("/proxies/{proxy}")).await
    }

    /// Creates the proxy. One of that name with the same listener and upstream stays as it is; with
    /// another it is replaced, its toxics gone.
    pub async fn put(&self, request: &LinkRequest) -> Result<(), ProxyError> {
        self.populate(std::slice::from_ref(request)).await
    }

    /// [`Self::put`] for several.
    pub async fn populate(&self, requests: &[LinkRequest]) -> Result<(), ProxyError> {
        self.post("/populate", requests).await
    }

    pub async fn update(&self, proxy: &str, update: &LinkUpdate) -> Result<(), ProxyError> {
        self.post(&format!("/proxies/{proxy}"), update).await
    }

    /// `false` closes the listener and all connections of the link: connects are refused.
    pub async fn set_enabled(&self, proxy: &str, enabled: bool) -> Result<(), ProxyError> {
        let update = LinkUpdate {
            enabled: Some(enabled),
            ..LinkUpdate::default()
        };
        self.update(proxy, &update).await
    }

    /// Removes the link, its toxics and its connections.
    pub async fn remove(&self, proxy: &str) -> Result<(), ProxyError> {
        self.delete(&format!("/proxies/{proxy}")).await
    }

    pub async fn add_toxic(&self, proxy: &str, toxic: &Toxic) -> Result<(), ProxyError> {
        self.post(&format!("/proxies/{proxy}/toxics"), toxic).await
    }

    /// Swallows what flows in `stream` until the toxic is removed.
    pub async fn black_hole(&self, proxy: &str, stream: Stream) -> Result<(), ProxyError> {
        self.add_toxic(proxy, &Toxic::new(stream, Effect::Timeout { timeout: 0 }))
            .await
    }

    pub async fn toxics(&self, proxy: &str) -> Result<Vec<Toxic>, ProxyError> {
        self.http.get(&format!("/proxies/{proxy}/toxics")).await
    }

    pub async fn toxic(&self, proxy: &str, toxic: &str) -> Result<Toxic, ProxyError> {
        self.http
            .get(&format!("/proxies/{proxy}/toxics/{toxic}"))
            .await
    }

    pub async fn update_toxic(
        &self,
        proxy: &str,
        toxic: &str,
        update: &ToxicUpdate,
    ) -> Result<(), ProxyError> {
        self.post(&format!("/proxies/{proxy}/toxics/{toxic}"), update)
            .await
    }

    pub async fn remove_toxic(&self, proxy: &str, toxic: &str) -> Result<(), ProxyError> {
        self.delete(&format!("/proxies/{proxy}/toxics/{toxic}"))
            .await
    }

    /// Removes every toxic of one link; toxics that are gone already are no error.
    pub async fn clear(&self, proxy: &str) -> Result<(), ProxyError> {
        for toxic in self.toxics(proxy).await? {
            match self.remove_toxic(proxy, &toxic.name).await {
                Ok(()) | Err(ProxyError::Answer { status: 404, .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Removes every toxic and enables every link.
    pub async fn reset(&self) -> Result<(), ProxyError> {
        self.http.call(Method::POST, "/reset").await.map(drop)
    }

    /// Prometheus' text format. The real Toxiproxy serves it when started with `-proxy-metrics`.
    pub async fn metrics(&self) -> Result<String, ProxyError> {
        let text = self.http.call(Method::GET, "/metrics").await?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Live counters. Ours.
    pub async fn traffic(&self, proxy: &str) -> Result<Traffic, ProxyError> {
        self.http.get(&format!("/proxies/{proxy}/traffic")).await
    }

    /// The live connections of a link. Ours.
    pub async fn connections(&self, proxy: &str) -> Result<Vec<ConnectionView>, ProxyError> {
        self.http
            .get(&format!("/proxies/{proxy}/connections"))
            .await
    }

    /// Ends every live connection of a link with a RST on both sides; returns how many. Ours.
    pub async fn rst(&self, proxy: &str) -> Result<u64, ProxyError> {
        let path = format!("/proxies/{proxy}/rst");
        let body = self.http.call(Method::POST, &path).await?;
        let answer: ResetAnswer = http::parse("POST", &path, &body)?;
        Ok(answer.connections_reset)
    }

    /// Creates the lease, or gives it `ttl` from now on. Ours.
    pub async fn renew_lease(&self, id: &str, ttl: Duration) -> Result<(), ProxyError> {
        let ttl_ms = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
        let path = format!("/leases/{id}");
        let request = LeaseRequest { ttl_ms };
        self.http
            .send(Method::PUT, &path, Some(&request))
            .await
            .map(drop)
    }

    /// Mends what was broken under the lease. Ours.
    pub async fn end_lease(&self, id: &str) -> Result<(), ProxyError> {
        self.delete(&format!("/leases/{id}")).await
    }

    /// Ours.
    pub async fn leases(&self) -> Result<BTreeMap<String, LeaseView>, ProxyError> {
        self.http.get("/leases").await
    }

    async fn post<B: serde::Serialize + ?Sized>(
        &self,
        path: &str,
        body: &B,
    ) -> Result<(), ProxyError> {
        self.http
            .send(Method::POST, path, Some(body))
            .await
            .map(drop)
    }

    async fn delete(&self, path: &str) -> Result<(), ProxyError> {
        self.http.call(Method::DELETE, path).await.map(drop)
    }
}
