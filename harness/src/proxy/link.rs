//! One proxy in Toxiproxy's sense: a listener, its upstream, its rules and its live connections.

mod listener;
mod toxics;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use self::listener::Acceptor;
use super::address::Upstream;
use super::connection::{ConnectionView, Order};
use super::cut::{Cuts, Protocol, Rewrites};
use super::error::ProxyError;
use super::line::Rules;
use super::roster::Roster;
use super::tap::Tapper;
use super::toxic::Toxic;
use super::traffic::{Counters, Traffic};

/// A proxy as the API shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkView {
    pub name: String,
    pub listen: String,
    pub upstream: String,
    pub enabled: bool,
    pub toxics: Vec<Toxic>,
    /// Ours: see [`LinkRequest`](super::collection::LinkRequest).
    #[serde(default, skip_serializing_if = "Rewrites::is_empty")]
    pub rewrites: Rewrites,
    /// Ours: the lease that enables the proxy again when it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<String>,
}

/// Must be used inside the proxy's runtime: it spawns its tasks there.
#[derive(Debug)]
pub struct Link {
    name: String,
    seed: u64,
    upstream: Arc<Upstream>,
    /// Port 0 is replaced by the real one, so that re-enabling comes back at the same place.
    listen: Mutex<SocketAddr>,
    acceptor: Mutex<Option<Acceptor>>,
    /// The lease under which the link is disabled.
    disabled_by: Mutex<Option<String>>,
    rules: watch::Sender<Rules>,
    tapper: Arc<Tapper>,
    counters: Arc<Counters>,
    connections: Roster,
}

impl Link {
    /// A link that is disabled yet.
    pub fn new(
        name: &str,
        listen: SocketAddr,
        upstream: Upstream,
        rewrites: Rewrites,
        toxics: Vec<Toxic>,
        seed: u64,
    ) -> Arc<Self> {
        let upstream = Arc::new(upstream);
        let is_tapped = !rewrites.is_empty();
        let tapper = Arc::new(Tapper {
            cuts: Arc::new(Cuts::rewriting(rewrites)),
            upstream: Arc::clone(&upstream),
        });
        let rules = Rules {
            toxics,
            tapper: is_tapped.then(|| Arc::clone(&tapper)),
        };
        Arc::new(Self {
            name: name.to_owned(),
            seed,
            upstream,
            tapper,
            listen: Mutex::new(listen),
            acceptor: Mutex::default(),
            disabled_by: Mutex::default(),
            rules: watch::Sender::new(rules),
            counters: Arc::default(),
            connections: Roster::default(),
        })
    }

    /// Toxics in Toxiproxy's order: upstream first.
    pub fn view(&self) -> LinkView {
        LinkView {
            name: self.name.clone(),
            listen: self.listen().to_string(),
            upstream: self.upstream.as_str().to_owned(),
            enabled: lock(&self.acceptor).is_some(),
            toxics: self.toxics(),
            rewrites: self.rewrites().clone(),
            lease: lock(&self.disabled_by).clone(),
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn listen(&self) -> SocketAddr {
        *lock(&self.listen)
    }

    pub fn upstream(&self) -> &Upstream {
        &self.upstream
    }

    pub fn traffic(&self) -> Traffic {
        self.counters.read()
    }

    pub fn connections(&self) -> Vec<ConnectionView> {
        self.connections.views()
    }

    /// Ends every live connection with a RST on both sides. Returns how many there were.
    pub fn reset_connections(&self) -> usize {
        self.connections.end(Order::Reset, |_| true)
    }

    /// The same for those of some clients.
    pub fn reset_connections_of(&self, clients: &[SocketAddr]) {
        self.connections
            .end(Order::Reset, |client| clients.contains(&client));
    }

    /// Lets every connection be followed as this protocol, open ones too; `None` ends it.
    pub fn tap_as(&self, protocol: Option<Protocol>) {
        self.tapper.cuts.set_protocol(protocol);
        let tapper = protocol.map(|_| Arc::clone(&self.tapper));
        self.rules.send_modify(|rules| rules.tapper = tapper);
    }

    pub fn tapper(&self) -> &Tapper {
        &self.tapper
    }

    /// Undoes what was done under the lease.
    ///
    /// # Errors
    /// The listener's port was taken while the link was down.
    pub fn end_lease(self: &Arc<Self>, lease: &str) -> Result<(), ProxyError> {
        let is_under = |held: &Option<String>| held.as_deref() == Some(lease);
        if self
            .rules
            .borrow()
            .toxics
            .iter()
            .any(|toxic| is_under(&toxic.lease))
        {
            self.remove_toxics(|toxic| is_under(&toxic.lease))?;
        }
        self.remove_cuts(|view| is_under(&view.lease));
        let disabled = is_under(&lock(&self.disabled_by));
        if disabled { self.enable() } else { Ok(()) }
    }
}

/// A panic of another task must not make the proxy unusable; the maps stay consistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
