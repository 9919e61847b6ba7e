//! Which faults were in force, as a number that every record carries.

use std::sync::atomic::{AtomicU16, Ordering};

/// How often the faults of a run have changed: it goes up just before a fault is injected and just after
/// one is healed. Shared by those who break and those who record; neither waits for the other.
#[derive(Debug, Default)]
pub struct FaultEpoch(AtomicU16);

impl FaultEpoch {
    pub fn now(&self) -> u16 {
        self.0.load(Ordering::Relaxed)
    }

    /// A fault is about to be injected, or has been healed: the epoch that begins. It stays at the last
    /// number there is rather than begin again.
    pub fn advance(&self) -> u16 {
        let next = |epoch: u16| epoch.checked_add(1);
        let before = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        before.map_or_else(|last| last, |before| before + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_changes_and_never_begins_again() {
        let epoch = FaultEpoch::default();
        assert_eq!((epoch.now(), epoch.advance(), epoch.now()), (0, 1, 1));
        let last = FaultEpoch(AtomicU16::new(u16::MAX));
        assert_eq!((last.advance(), last.now()), (u16::MAX, u16::MAX));
    }
}
