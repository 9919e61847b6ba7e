//! The clients that ask: ours, and `toxiproxy_rust`, which others wrote for the real Toxiproxy.

use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::net::SocketAddr;

use flashdrill::proxy::ProxyClient;
use flashdrill::proxy::client::LinkRequest;
use flashdrill::proxy::toxic::{Effect, Toxic};
use toxiproxy_rust::proxy::{Proxy, ProxyPack};

#[derive(Clone)]
pub enum Via {
    OurClient(ProxyClient),
    ToxiproxyRust(Crate),
}

/// Its client blocks, and has a runtime of its own that must not be dropped in ours.
#[derive(Clone)]
pub struct Crate(ManuallyDrop<toxiproxy_rust::client::Client>);

impl Crate {
    async fn call<T: Send + 'static>(
        &self,
        act: impl FnOnce(&toxiproxy_rust::client::Client) -> T + Send + 'static,
    ) -> T {
        let client = self.0.clone();
        tokio::task::spawn_blocking(move || act(&client))
            .await
            .unwrap()
    }

    async fn link<T: Send + 'static>(
        &self,
        name: &str,
        act: impl FnOnce(&Proxy) -> T + Send + 'static,
    ) -> T {
        let name = name.to_owned();
        self.call(move |client| {
            let link = client.find_proxy(&name).unwrap();
            act(&link)
        })
        .await
    }
}

/// What both clients tell of a link.
#[derive(Debug, PartialEq)]
pub struct Told {
    pub listen: SocketAddr,
    pub enabled: bool,
    pub toxics: Vec<String>,
}

impl Via {
    pub fn our_client(api: SocketAddr) -> Self {
        Self::OurClient(ProxyClient::new(api))
    }

    pub async fn toxiproxy_rust(api: SocketAddr) -> Self {
        let client = tokio::task::spawn_blocking(move || toxiproxy_rust::client::Client::new(api));
        Self::ToxiproxyRust(Crate(ManuallyDrop::new(client.await.unwrap())))
    }

    pub async fn populate(&self, links: Vec<(String, SocketAddr, SocketAddr)>) {
        match self {
            Self::OurClient(client) => {
                let request = |(name, listen, upstream): (String, SocketAddr, SocketAddr)| {
                    LinkRequest::new(&name, listen.to_string(), upstream)
                };
                let requests: Vec<_> = links.into_iter().map(request).collect();
                client.populate(&requests).await.unwrap();
            }
            Self::ToxiproxyRust(client) => {
                let pack = |(name, listen, upstream): (String, SocketAddr, SocketAddr)| {
                    ProxyPack::new(name, listen.to_string(), upstream.to_string())
                };
                let packs: Vec<_> = links.into_iter().map(pack).collect();
                let count = packs.len();
                let made = client.call(|client| client.populate(packs).unwrap()).await;
                assert_eq!(made.len(), count);
            }
        }
    }

    pub async fn all(&self) -> BTreeMap<String, Told> {
        match self {
            Self::OurClient(client) => {
                let links = client.proxies().await.unwrap();
                let told = |(name, link): (String, flashdrill::proxy::client::LinkView)| {
                    let toxics = link.toxics.into_iter().map(|toxic| toxic.name).collect();
                    let (listen, enabled) = (link.listen.parse().unwrap(), link.enabled);
                    (
                        name,
                        Told {
                            listen,
                            enabled,
                            toxics,
                        },
                    )
                };
                links.into_iter().map(told).collect()
            }
            Self::ToxiproxyRust(client) => {
                let links = client.call(|client| client.all().unwrap()).await;
                let told = |(name, link): (String, Proxy)| {
                    let pack = link.proxy_pack;
                    let toxics = pack.toxics.into_iter().map(|toxic| toxic.name).collect();
                    let (listen, enabled) = (pack.listen.parse().unwrap(), pack.enabled);
                    (
                        name,
                        Told {
                            listen,
                            enabled,
                            toxics,
                        },
                    )
                };
                links.into_iter().map(told).collect()
            }
        }
    }

    /// `false` when the client does not know the effect.
    pub async fn add(&self, link: &str, toxic: &Toxic) -> bool {
        match self {
            Self::OurClient(client) => {
                client.add_toxic(link, toxic).await.unwrap();
                true
            }
            Self::ToxiproxyRust(client) => {
                let toxic = toxic.clone();
                client
                    .link(link, move |proxy| add_by_crate(proxy, &toxic))
                    .await
            }
        }
    }

    pub async fn set_enabled(&self, link: &str, enabled: bool) {
        match self {
            Self::OurClient(client) => client.set_enabled(link, enabled).await.unwrap(),
            Self::ToxiproxyRust(client) => {
                client
                    .link(link, move |proxy| match enabled {
                        true => proxy.enable().unwrap(),
                        false => proxy.disable().unwrap(),
                    })
                    .await;
            }
        }
    }

    pub async fn clear(&self, link: &str) {
        match self {
            Self::OurClient(client) => client.clear(link).await.unwrap(),
            Self::ToxiproxyRust(client) => {
                client
                    .link(link, |proxy| proxy.delete_all_toxics().unwrap())
                    .await;
            }
        }
    }

    pub async fn remove(&self, link: &str) {
        match self {
            Self::OurClient(client) => client.remove(link).await.unwrap(),
            Self::ToxiproxyRust(client) => client.link(link, |proxy| proxy.delete().unwrap()).await,
        }
    }

    pub async fn reset(&self) {
        match self {
            Self::OurClient(client) => client.reset().await.unwrap(),
            Self::ToxiproxyRust(client) => client.call(|client| client.reset().unwrap()).await,
        }
    }
}

fn add_by_crate(proxy: &Proxy, toxic: &Toxic) -> bool {
    let stream = toxic.stream.name().to_owned();
    let toxicity = toxic.toxicity as f32;
    let number = |value: u64| u32::try_from(value).unwrap();
    match toxic.effect {
        Effect::Latency { latency, jitter } => {
            proxy.with_latency(stream, number(latency), number(jitter), toxicity)
        }
        Effect::Bandwidth { rate } => proxy.with_bandwidth(stream, number(rate), toxicity),
        Effect::SlowClose { delay } => proxy.with_slow_close(stream, number(delay), toxicity),
        Effect::Timeout { timeout } => proxy.with_timeout(stream, number(timeout), toxicity),
        Effect::Slicer {
            average_size,
            size_variation,
            delay,
        } => proxy.with_slicer(
            stream,
            number(average_size),
            number(size_variation),
            number(delay),
            toxicity,
        ),
        Effect::LimitData { bytes } => proxy.with_limit_data(stream, number(bytes), toxicity),
        Effect::ResetPeer { .. } | Effect::Stall {} | Effect::Unreachable {} => return false,
    };
    true
}
