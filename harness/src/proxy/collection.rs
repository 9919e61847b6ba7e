//! All proxies by name, and the rules for making and changing them.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::error::ProxyError;
use super::link::{Link, LinkView};

/// A proxy as a client asks for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkRequest {
    pub name: String,
    pub listen: String,
    pub upstream: String,
    #[serde(default = "enabled")]
    pub enabled: bool,
}

fn enabled() -> bool {
    true
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

#[derive(Debug)]
pub struct Collection {
    /// Held over a whole change, so that two clients cannot interleave theirs.
    links: Mutex<BTreeMap<String, Arc<Link>>>,
    seed: u64,
}

impl Collection {
    pub fn new(seed: u64) -> Self {
        Self {
            links: Mutex::default(),
            seed,
        }
    }

    pub async fn views(&self) -> BTreeMap<String, LinkView> {
        let links = self.links.lock().await;
        links
            .iter()
            .map(|(name, link)| (name.clone(), link.view()))
            .collect()
    }

    pub async fn get(&self, name: &str) -> Result<Arc<Link>, ProxyError> {
        find(&*self.links.lock().await, name)
    }

    pub async fn create(&self, request: &LinkRequest) -> Result<LinkView, ProxyError> {
        let mut links = self.links.lock().await;
        if links.contains_key(&request.name) {
            return Err(ProxyError::ProxyExists {
                name: request.name.clone(),
            });
        }
        let link = self.open(request)?;
        let view = link.view();
        links.insert(request.name.clone(), link);
        Ok(view)
    }

    /// Create-or-replace: a proxy that is already as asked keeps its connections.
    pub async fn populate(&self, requests: &[LinkRequest]) -> Result<Vec<LinkView>, ProxyError> {
        let mut links = self.links.lock().await;
        let mut views = Vec::with_capacity(requests.len());
        for request in requests {
            let link = match links.get(&request.name) {
                Some(old) => self.change(old, request).await?,
                None => self.open(request)?,
            };
            views.push(link.view());
            links.insert(request.name.clone(), link);
        }
        Ok(views)
    }

    pub async fn update(&self, name: &str, update: &LinkUpdate) -> Result<LinkView, ProxyError> {
        let mut links = self.links.lock().await;
        let old = find(&links, name)?;
        let view = old.view();
        let request = LinkRequest {
            name: name.to_owned(),
            listen: update.listen.clone().unwrap_or(view.listen),
            upstream: update.upstream.clone().unwrap_or(view.upstream),
            enabled: update.enabled.unwrap_or(view.enabled),
        };
        let link = self.change(&old, &request).await?;
        let view = link.view();
        links.insert(request.name, link);
        Ok(view)
    }

    pub async fn remove(&self, name: &str) -> Result<(), ProxyError> {
        let mut links = self.links.lock().await;
        find(&links, name)?.disable().await;
        links.remove(name);
        Ok(())
    }

    /// Removes every toxic and enables every proxy.
    pub async fn reset(&self) -> Result<(), ProxyError> {
        for link in self.links.lock().await.values() {
            link.remove_all_toxics();
            link.enable()?;
        }
        Ok(())
    }

    /// A new listener or upstream restarts the proxy and drops its connections; toxics stay.
    async fn change(&self, old: &Arc<Link>, to: &LinkRequest) -> Result<Arc<Link>, ProxyError> {
        let moved = address("listen", &to.listen)? != old.listen()
            || address("upstream", &to.upstream)? != old.upstream();
        if !moved && to.enabled {
            old.enable()?;
            return Ok(Arc::clone(old));
        }
        old.disable().await;
        if !moved {
            return Ok(Arc::clone(old));
        }
        let link = self.open(to)?;
        for toxic in old.toxics() {
            link.add_toxic(toxic)?;
        }
        Ok(link)
    }

    fn open(&self, request: &LinkRequest) -> Result<Arc<Link>, ProxyError> {
        if request.name.is_empty() || request.name.contains('/') {
            let reason = format!("`{}` is no name for a proxy", request.name);
            return Err(ProxyError::BadBody { reason });
        }
        let listen = address("listen", &request.listen)?;
        let upstream = address("upstream", &request.upstream)?;
        let seed = xxh3_64_with_seed(request.name.as_bytes(), self.seed);
        Link::open(&request.name, listen, upstream, request.enabled, seed)
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

/// Only loopback: this proxy must never be a way from or to another machine.
fn address(what: &'static str, text: &str) -> Result<SocketAddr, ProxyError> {
    let numeric = text
        .strip_prefix("localhost:")
        .map(|port| format!("127.0.0.1:{port}"));
    let address: SocketAddr =
        numeric
            .as_deref()
            .unwrap_or(text)
            .parse()
            .map_err(|_| ProxyError::BadAddress {
                what,
                address: text.to_owned(),
            })?;
    if address.ip().is_loopback() {
        Ok(address)
    } else {
        Err(ProxyError::NotLoopback {
            what,
            address: text.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serves_loopback_only() {
        assert!(address("listen", "127.0.0.9:80").is_ok());
        assert!(address("listen", "localhost:80").is_ok());
        for text in ["0.0.0.0:80", "10.0.0.1:80", "[::]:80"] {
            let refused = address("listen", text).unwrap_err();
            assert!(
                matches!(refused, ProxyError::NotLoopback { .. }),
                "{refused}"
            );
        }
        for text in ["", "127.0.0.1", "example.org:80"] {
            let refused = address("upstream", text).unwrap_err();
            assert!(
                matches!(refused, ProxyError::BadAddress { .. }),
                "{refused}"
            );
        }
    }
}
