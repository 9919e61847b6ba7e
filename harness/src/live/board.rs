//! The faults of a live stack, by number.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use crate::faults::FaultEvent;

/// A fault that was injected by hand. Times of its event are since the stack was up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LiveFault {
    pub id: u32,
    pub event: FaultEvent,
    /// It has been healed, or was never to be.
    pub over: bool,
}

impl LiveFault {
    /// Nothing more comes before it is told to heal.
    pub fn is_settled(&self) -> bool {
        self.over || self.event.receipt.is_some() || self.event.error.is_some()
    }
}

#[derive(Debug)]
struct Entry {
    fault: LiveFault,
    heal: Arc<AtomicBool>,
}

/// What is broken now, and what was.
#[derive(Debug, Default)]
pub struct Board {
    entries: Mutex<BTreeMap<u32, Entry>>,
    /// Woken at every change.
    changed: Notify,
}

impl Board {
    /// A number for a new fault, and the word that heals it.
    pub(super) fn add(&self, event: FaultEvent) -> (u32, Arc<AtomicBool>) {
        let mut entries = self.entries();
        let id = entries.keys().next_back().map_or(1, |last| last + 1);
        let heal = Arc::new(AtomicBool::new(false));
        let fault = LiveFault {
            id,
            event,
            over: false,
        };
        let word = Arc::clone(&heal);
        entries.insert(id, Entry { fault, heal });
        (id, word)
    }

    pub(super) fn note(&self, id: u32, event: &FaultEvent, over: bool) {
        if let Some(entry) = self.entries().get_mut(&id) {
            entry.fault.event = event.clone();
            entry.fault.over |= over;
        }
        self.changed.notify_waiters();
    }

    pub fn faults(&self) -> Vec<LiveFault> {
        self.entries()
            .values()
            .map(|entry| entry.fault.clone())
            .collect()
    }

    /// Tells a fault to heal, all of them without a number; returns which were told.
    pub(super) fn heal(&self, id: Option<u32>) -> Vec<u32> {
        let entries = self.entries();
        let told = entries
            .values()
            .filter(|entry| !entry.fault.over && id.is_none_or(|id| id == entry.fault.id));
        told.map(|entry| {
            entry.heal.store(true, Ordering::Relaxed);
            entry.fault.id
        })
        .collect()
    }

    /// Waits until `ready` holds of the fault; its last state.
    pub(super) async fn wait_until(
        &self,
        id: u32,
        ready: impl Fn(&LiveFault) -> bool,
    ) -> Option<LiveFault> {
        loop {
            let changed = self.changed.notified();
            let fault = self.entries().get(&id).map(|entry| entry.fault.clone())?;
            if ready(&fault) {
                return Some(fault);
            }
            changed.await;
        }
    }

    fn entries(&self) -> MutexGuard<'_, BTreeMap<u32, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
