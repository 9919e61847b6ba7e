//! All proxies by name, and the rules for making and changing them.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::address::Allowed;
use super::cut::Rewrites;
use super::error::ProxyError;
use super::lease::Leases;
use super::link::{Link, LinkView};
use super::toxic::Toxic;

/// A proxy as a client asks for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkRequest {
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub listen: String,
    #[serde(default)]
    pub upstream: String,
    #[serde(default = "enabled")]
    pub enabled: bool,
    /// Ours, for a link to a `RocketMQ` name server: addresses of brokers that its clients are told instead.
    #[serde(default, skip_serializing_if = "Rewrites::is_empty")]
    pub rewrites: Rewrites,
}

fn enabled() -> bool {
    true
}

impl LinkRequest {
    /// An open link that carries its bytes as they are.
    pub fn new(name: &str, listen: impl Into<String>, upstream: SocketAddr) -> Self {
        Self {
            name: name.to_owned(),
            listen: listen.into(),
            upstream: upstream.to_string(),
            enabled: true,
            rewrites: Rewrites::default(),
        }
    }

    /// `place` says which of several requests it is.
    fn check(&self, place: &str) -> Result<(), ProxyError> {
        for (field, text) in [("name", &self.name), ("upstream", &self.upstream)] {
            if text.is_empty() {
                let field = format!("{field}{place}");
                return Err(ProxyError::MissingField { field });
            }
        }
        Ok(())
    }
}

/// What an update may change; absent fields stay.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkUpdate {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listen: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
}

/// What became of a populate: the proxies up to the first error.
#[derive(Debug)]
pub struct Populated {
    pub views: Vec<LinkView>,
    pub error: Option<ProxyError>,
}

#[derive(Debug)]
pub struct Collection {
    /// Held over a whole change, so that two clients cannot interleave theirs.
    links: Mutex<BTreeMap<String, Arc<Link>>>,
    pub leases: Leases,
    allowed: Allowed,
    seed: u64,
}

impl Collection {
    pub fn new(seed: u64, allowed: Allowed) -> Self {
        Self {
            links: Mutex::default(),
            leases: Leases::default(),
            allowed,
            seed,
        }
    }

    pub async fn all(&self) -> BTreeMap<String, Arc<Link>> {
        self.links.lock().await.clone()
    }

    pub async fn get(&self, name: &str) -> Result<Arc<Link>, ProxyError> {
        find(&*self.links.lock().await, name)
    }

    pub async fn create(&self, request: &LinkRequest) -> Result<LinkView, ProxyError> {
        request.check("")?;
        let mut links = self.links.lock().await;
        if links.contains_key(&request.name) {
            return Err(ProxyError::ProxyExists {
                name: request.name.clone(),
            });
        }
        let link = self.open(request, Vec::new())?;
        let view = link.view();
        links.insert(request.name.clone(), link);
        Ok(view)
    }

    /// Create-or-replace: a proxy that is there already stays as it is, a disabled one disabled; one
    /// that is elsewhere is replaced, its toxics gone.
    pub async fn populate(&self, requests: &[LinkRequest]) -> Populated {
        let mut views = Vec::with_capacity(requests.len());
        let error = self.populate_each(requests, &mut views).await.err();
        Populated { views, error }
    }

    async fn populate_each(
        &self,
        requests: &[LinkRequest],
        views: &mut Vec<LinkView>,
    ) -> Result<(), ProxyError> {
        for (at, request) in requests.iter().enumerate() {
            request.check(&format!(" at proxy {}", at + 1))?;
        }
        let mut links = self.links.lock().await;
        for request in requests {
            let link = match links.get(&request.name) {
                Some(there) if !self.differs(there, request)? => Arc::clone(there),
                other => {
                    if let Some(old) = other {
                        old.disable(None).await;
                    }
                    self.open(request, Vec::new())?
                }
            };
            views.push(link.view());
            links.insert(request.name.clone(), link);
        }
        Ok(())
    }

    /// A new listener or upstream restarts the proxy and drops its connections; toxics stay. A disabling
    /// is undone with the lease, if there is one.
    pub async fn update(
        &self,
        name: &str,
        update: &LinkUpdate,
        lease: Option<String>,
    ) -> Result<LinkView, ProxyError> {
        let mut links = self.links.lock().await;
        let old = find(&links, name)?;
        let view = old.view();
        let request = LinkRequest {
            name: name.to_owned(),
            listen: update.listen.clone().unwrap_or(view.listen),
            upstream: update.upstream.clone().unwrap_or(view.upstream),
            enabled: update.enabled.unwrap_or(view.enabled),
            rewrites: view.rewrites,
        };
        if self.differs(&old, &request)? {
            old.disable(None).await;
            let link = self.open(&request, old.toxics())?;
            links.insert(request.name, Arc::clone(&link));
            return Ok(link.view());
        }
        match (view.enabled, request.enabled) {
            (_, true) => old.enable()?,
            (true, false) => {
                old.disable(lease.clone()).await;
                // It may have ended meanwhile.
                if let Some(id) = lease.filter(|id| self.leases.check(id).is_err()) {
                    old.end_lease(&id)?;
                }
            }
            (false, false) => {}
        }
        Ok(old.view())
    }

    pub async fn remove(&self, name: &str) -> Result<(), ProxyError> {
        let mut links = self.links.lock().await;
        find(&links, name)?.disable(None).await;
        links.remove(name);
        Ok(())
    }

    /// Removes every toxic and every cut, and enables every proxy.
    pub async fn reset(&self) -> Result<(), ProxyError> {
        for link in self.links.lock().await.values() {
            link.remove_cuts(|_| true);
            link.remove_toxics(|_| true)?;
            link.enable()?;
        }
        Ok(())
    }

    /// Undoes what was done under a lease that has ended.
    pub async fn end_lease(&self, id: &str) {
        for (name, link) in self.all().await {
            if let Err(error) = link.end_lease(id) {
                tracing::error!(proxy = name, lease = id, %error, "not healed");
            }
        }
    }

    /// Ends leases as they expire, for ever.
    pub async fn expire_leases(&self) {
        loop {
            let id = self.leases.expired().await;
            tracing::warn!(lease = id, "expired: what was broken under it is mended");
            self.end_lease(&id).await;
        }
    }

    fn differs(&self, link: &Link, request: &LinkRequest) -> Result<bool, ProxyError> {
        Ok(self.allowed.listen(&request.listen)? != link.listen()
            || self.allowed.upstream(&request.upstream)? != *link.upstream()
            || request.rewrites != *link.rewrites())
    }

    fn open(&self, request: &LinkRequest, toxics: Vec<Toxic>) -> Result<Arc<Link>, ProxyError> {
        let listen = self.allowed.listen(&request.listen)?;
        let upstream = self.allowed.upstream(&request.upstream)?;
        let seed = xxh3_64_with_seed(request.name.as_bytes(), self.seed);
        let rewrites = request.rewrites.clone();
        let link = Link::new(&request.name, listen, upstream, rewrites, toxics, seed);
        if request.enabled {
            link.enable()?;
        }
        Ok(link)
    }
}

fn find(links: &BTreeMap<String, Arc<Link>>, name: &str) -> Result<Arc<Link>, ProxyError> {
    links
        .get(name)
        .cloned()
        .ok_or_else(|| ProxyError::NoSuchProxy {
            name: name.to_owned(),
        })
}
