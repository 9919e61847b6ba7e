//! Leases: what was broken under one is mended when its owner stops renewing it.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::error::ProxyError;

/// The header that puts a toxic, or the disabling of a proxy, under a lease.
pub const LEASE_HEADER: &str = "flashdrill-lease";

/// Body of `PUT /leases/{id}`: how long it lives unless renewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseRequest {
    pub ttl_ms: u64,
}

/// A lease as `GET /leases` lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseView {
    /// Until it expires.
    pub left_ms: u64,
}

#[derive(Debug, Default)]
pub struct Leases {
    /// When each expires; `None` is never: a time too far away to be told.
    ends: Mutex<BTreeMap<String, Option<Instant>>>,
    changed: Notify,
}

impl Leases {
    pub fn renew(&self, id: &str, request: LeaseRequest) {
        let end = Instant::now().checked_add(Duration::from_millis(request.ttl_ms));
        self.with(|ends| ends.insert(id.to_owned(), end));
        self.changed.notify_one();
    }

    /// # Errors
    /// There is none of that name, or not any more.
    pub fn remove(&self, id: &str) -> Result<(), ProxyError> {
        let removed = self.with(|ends| ends.remove(id));
        removed.map(drop).ok_or_else(|| no_lease(id))
    }

    /// # Errors
    /// There is none of that name, or not any more.
    pub fn check(&self, id: &str) -> Result<(), ProxyError> {
        let is_known = self.with(|ends| ends.contains_key(id));
        is_known.then_some(()).ok_or_else(|| no_lease(id))
    }

    pub fn list(&self) -> BTreeMap<String, LeaseView> {
        let now = Instant::now();
        let left = |end: &Option<Instant>| {
            end.map_or(u64::MAX, |end| {
                let left = end.saturating_duration_since(now).as_millis();
                u64::try_from(left).unwrap_or(u64::MAX)
            })
        };
        let view =
            |(id, end): (&String, &Option<Instant>)| (id.clone(), LeaseView { left_ms: left(end) });
        self.with(|ends| ends.iter().map(view).collect())
    }

    /// Waits until a lease expires; it is gone then.
    pub async fn expired(&self) -> String {
        loop {
            let next = self.with(|ends| {
                let due = ends.iter().filter_map(|(id, end)| Some(((*end)?, id)));
                due.min().map(|(end, id)| (end, id.clone()))
            });
            match next {
                None => self.changed.notified().await,
                Some((end, id)) if end <= Instant::now() => {
                    self.with(|ends| ends.remove(&id));
                    return id;
                }
                Some((end, _)) => tokio::select! {
                    () = sleep_until(end) => {}
                    () = self.changed.notified() => {}
                },
            }
        }
    }

    fn with<T>(&self, act: impl FnOnce(&mut BTreeMap<String, Option<Instant>>) -> T) -> T {
        act(&mut self.ends.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn no_lease(id: &str) -> ProxyError {
    ProxyError::NoSuchLease { id: id.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_lease_lives_as_long_as_it_is_renewed() {
        let leases = Leases::default();
        let begun = Instant::now();
        leases.renew("long", LeaseRequest { ttl_ms: u64::MAX });
        leases.renew("short", LeaseRequest { ttl_ms: 100 });
        let renewing = async {
            tokio::time::sleep(Duration::from_millis(60)).await;
            leases.renew("short", LeaseRequest { ttl_ms: 100 });
        };
        let (expired, ()) = tokio::join!(leases.expired(), renewing);
        assert_eq!(expired, "short");
        assert!(begun.elapsed() >= Duration::from_millis(160));
        assert!(leases.check("long").is_ok() && leases.remove("short").is_err());
    }
}
