//! Cut points, ours: the real Toxiproxy answers 404.

use reqwest::Method;

use super::super::cut::{Cut, CutView, FollowRequest, Protocol};
use super::super::error::ProxyError;
use super::ProxyClient;

impl ProxyClient {
    /// Follows the link's connections as this protocol, those that open from now on from their first byte; `None`
    /// ends it. A cut does so by itself, but too late for connections of `resp` that are open then.
    pub async fn follow(&self, proxy: &str, protocol: Option<Protocol>) -> Result<(), ProxyError> {
        let path = format!("/proxies/{proxy}/protocol");
        let request = FollowRequest { protocol };
        self.http
            .send(Method::PUT, &path, Some(&request))
            .await
            .map(drop)
    }

    pub async fn add_cut(&self, proxy: &str, cut: &Cut) -> Result<(), ProxyError> {
        self.post(&format!("/proxies/{proxy}/cuts"), cut).await
    }

    /// The cuts of a link, and how often each has seen its command and fired.
    pub async fn cuts(&self, proxy: &str) -> Result<Vec<CutView>, ProxyError> {
        self.http.get(&format!("/proxies/{proxy}/cuts")).await
    }

    pub async fn cut(&self, proxy: &str, cut: &str) -> Result<CutView, ProxyError> {
        self.http.get(&format!("/proxies/{proxy}/cuts/{cut}")).await
    }

    /// Connections that hang at the cut are reset.
    pub async fn remove_cut(&self, proxy: &str, cut: &str) -> Result<(), ProxyError> {
        self.delete(&format!("/proxies/{proxy}/cuts/{cut}")).await
    }
}
