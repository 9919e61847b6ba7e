//! The wall clock of this node; nothing else asks the time of day.

use std::time::{SystemTime, UNIX_EPOCH};

/// Unix time, ms.
#[must_use]
pub fn now_ms() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let now_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
    #[cfg(feature = "failpoints")]
    let now_ms = now_ms.saturating_add_signed(offset::get());
    now_ms
}

#[cfg(feature = "failpoints")]
pub use offset::set as set_offset_ms;

/// A clock that is wrong on purpose.
#[cfg(feature = "failpoints")]
mod offset {
    use std::sync::atomic::{AtomicI64, Ordering};

    static OFFSET_MS: AtomicI64 = AtomicI64::new(0);

    pub(super) fn get() -> i64 {
        OFFSET_MS.load(Ordering::Relaxed)
    }

    /// From now on the clock is this far ahead of the machine's; negative: behind it.
    pub fn set(offset_ms: i64) {
        OFFSET_MS.store(offset_ms, Ordering::Relaxed);
    }
}
