//! The keeper's lease: one keeper leads at a time. Only for peace: that two of them do no harm is the epochs' work.

use std::time::{Duration, Instant};

use crate::store::{NODE_TTL, Store};

/// Time between two renewals.
const RENEW_INTERVAL: Duration = Duration::from_millis(500);

/// A leader that cannot do its work for this long leaves it to others.
const UNFIT_MAX: Duration = Duration::from_secs(2);

/// One keeper's side of the lease.
pub struct Lease {
    store: Store,
    node: String,
    renewed: Option<Instant>,
    /// Held without a break.
    held_since: Option<Instant>,
    unfit_since: Option<Instant>,
}

impl Lease {
    #[must_use]
    pub fn new(store: Store, node: String) -> Self {
        Self {
            store,
            node,
            renewed: None,
            held_since: None,
            unfit_since: None,
        }
    }

    /// Whether this keeper leads. One that is not fit (a server out of its reach) gives the lease away, and asks
    /// again only when it is fit, or nobody else has taken it for a while.
    pub async fn is_held(&mut self, is_fit: bool) -> bool {
        if is_fit {
            self.unfit_since = None;
        }
        let unfit_for = self.unfit_since.get_or_insert_with(Instant::now).elapsed();
        if !is_fit && (UNFIT_MAX..UNFIT_MAX + NODE_TTL).contains(&unfit_for) {
            self.give_away().await;
            return false;
        }
        if self.renewed.is_some_and(|at| at.elapsed() < RENEW_INTERVAL) {
            return self.held_since.is_some();
        }
        self.renew().await
    }

    async fn renew(&mut self) -> bool {
        self.renewed = Some(Instant::now());
        // MySQL does not answer: who leads is not known, so nobody does.
        if !self.store.lead(&self.node).await.unwrap_or(false) {
            self.held_since = None;
            return false;
        }
        let held_since = *self.held_since.get_or_insert_with(|| {
            tracing::info!(node = self.node, "this keeper leads");
            Instant::now()
        });
        if held_since.elapsed() > NODE_TTL
            && let Ok(dead @ 1..) = self.store.forget_dead_nodes().await
        {
            tracing::warn!(dead, "nodes are gone");
        }
        true
    }

    async fn give_away(&mut self) {
        if self.held_since.take().is_none() {
            return;
        }
        tracing::warn!(
            node = self.node,
            "this keeper reaches too little; another may lead"
        );
        if let Err(error) = self.store.resign(&self.node).await {
            tracing::debug!(%error, "the lease runs out by itself");
        }
    }
}
