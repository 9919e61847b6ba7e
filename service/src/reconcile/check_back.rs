//! Finds reservations that nobody is left to bring to MySQL: where no message carries an order, the ledger is all that
//! a dead gateway leaves of it. What check-back is to the RocketMQ path.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::rebuild::Rebuilder;
use crate::parts::parts;
use crate::sale::clock;
use crate::sale::order::OrderMessage;
use crate::sale::sku::Sku;
use crate::stock::StockError;
use crate::stock::image::LedgerEntry;
use crate::store::StoreError;

/// Time between two looks at one SKU.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// Younger reservations are on their way.
const AGE: Duration = Duration::from_secs(5);
/// A whole look instead of one at what is new: gateways' clocks may differ by more than the age.
const WHOLE_INTERVAL: Duration = Duration::from_secs(30);
/// A whole look takes the longer the more was sold: those of all SKUs take at most one in this many parts of the time.
const WHOLE_SHARE: u32 = 50;

/// The ledger or MySQL could not be read.
#[derive(Debug, thiserror::Error)]
pub enum CheckBackError {
    #[error(transparent)]
    Stock(#[from] StockError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How far each SKU has been looked through.
#[derive(Debug, Default, Clone)]
pub struct CheckedBack(Arc<Mutex<Looks>>);

#[derive(Debug, Default)]
struct Looks {
    seen: HashMap<(String, String), Seen>,
    /// Until then no other whole look is repeated.
    rests_until: Option<Instant>,
}

#[derive(Debug, Clone, Copy)]
struct Seen {
    at: Instant,
    /// When the last whole look began.
    whole_at: Instant,
    /// Reservations that end before have their orders.
    deadline_ms: u64,
}

impl CheckedBack {
    /// The deadlines to look at now, from and to; None while it is too early. The first look is a whole one.
    fn due(&self, sku: &Sku, now: Instant, to_ms: u64) -> Option<(u64, u64)> {
        let mut looks = self.looks();
        let last = looks.seen.get(&sku.name()).copied();
        if last.is_some_and(|last| now - last.at < LOOK_INTERVAL) {
            return None;
        }
        let repeats = last.is_some_and(|last| looks.is_whole_due(&last, now));
        if repeats {
            looks.rests_until = Some(now + WHOLE_INTERVAL); // Or until it ends: SKUs are looked through side by side.
        }
        let last = last.filter(|_| !repeats);
        let looked = Seen {
            at: now,
            whole_at: last.map_or(now, |last| last.whole_at),
            deadline_ms: to_ms,
        };
        looks.seen.insert(sku.name(), looked);
        Some((last.map_or(0, |last| last.deadline_ms), to_ms))
    }

    /// A whole look that began at `begun` has ended: the next one, of whatever SKU, comes the later the longer it took.
    fn whole_ended(&self, begun: Instant, now: Instant) {
        self.looks().rests_until = Some(now + (now - begun) * WHOLE_SHARE);
    }

    /// The look did not come to its end: the next one is whole.
    fn forget(&self, sku: &Sku) {
        self.looks().seen.remove(&sku.name());
    }

    fn looks(&self) -> MutexGuard<'_, Looks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Looks {
    /// Whoever has waited longest is first: else the SKUs in front would be looked through again before the last ones.
    fn is_whole_due(&self, last: &Seen, now: Instant) -> bool {
        let is_first = self
            .seen
            .values()
            .filter(|other| now - other.at < WHOLE_INTERVAL) // One that is not sold any more waits for ever.
            .all(|other| last.whole_at <= other.whole_at);
        now - last.whole_at >= WHOLE_INTERVAL && is_first && self.rests_until <= Some(now)
    }
}

impl Rebuilder {
    /// One look at a SKU that sells without messages, if it is time: orders that only the ledger knows go to MySQL.
    pub async fn check_back(&self, sku: &Arc<Sku>, seen: &CheckedBack) {
        let hold_ms = u64::try_from(self.hold.as_millis()).unwrap_or(u64::MAX);
        let age_ms = AGE.as_millis() as u64;
        let to_ms = clock::now_ms()
            .saturating_add(hold_ms)
            .saturating_sub(age_ms);
        let begun = Instant::now();
        let Some((from_ms, to_ms)) = seen.due(sku, begun, to_ms) else {
            return;
        };
        match self.orphans(sku, from_ms, to_ms).await {
            Ok(orphans) => {
                if from_ms == 0 {
                    seen.whole_ended(begun, Instant::now());
                }
                if !orphans.is_empty() {
                    self.adopt(sku, orphans).await;
                }
            }
            Err(error) => {
                tracing::debug!(%error, "ledger is compared with MySQL later");
                seen.forget(sku);
            }
        }
    }

    /// Has orders brought to MySQL that only the ledger knows, where their way does not do so by itself.
    pub(super) async fn adopt(&self, sku: &Sku, orphans: Vec<OrderMessage>) {
        if !parts().adopts() {
            return;
        }
        let orders = self.queues.of(sku).queue.adopt(orphans).await;
        if orders > 0 {
            let (sale, sku) = (&sku.sale, &sku.sku);
            tracing::warn!(sale, sku, orders, "orders adopted from the ledger");
            self.metrics.adopted.increment(orders as u64);
        }
    }

    /// Reservations whose deadline is in this span and whose order MySQL does not have, not even as a dead letter.
    async fn orphans(
        &self,
        sku: &Sku,
        from_ms: u64,
        to_ms: u64,
    ) -> Result<Vec<OrderMessage>, CheckBackError> {
        let mut ids = self.stock.reserved_until(sku, from_ms, to_ms).await?;
        if from_ms > 0 {
            self.lately.leave_unknown(&mut ids); // A whole look takes nobody's word for it.
        }
        if !ids.is_empty() {
            let (existing, from) = self.store.existing_for_some_time(&ids).await?;
            self.metrics.looked_up(from);
            ids.retain(|id| !existing.contains(id));
        }
        // Few are left, if any; of them the primary must say that it does not have them.
        if !ids.is_empty() {
            let (existing, parked) = (
                self.store.existing(&ids).await?,
                self.store.parked(&ids).await?,
            );
            ids.retain(|id| !existing.contains(id) && !parked.contains(id));
        }
        let mut orphans = Vec::new();
        for id in ids {
            let entry = self.stock.look_up(sku, &id).await?;
            let reserved = entry.filter(LedgerEntry::is_reserved);
            orphans.extend(reserved.map(|entry| entry.message(sku, &id)));
        }
        Ok(orphans)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sale::sku::{Gate, Rules};

    #[test]
    fn looks_go_on_where_the_last_one_ended_and_begin_anew_by_and_by() {
        let sku = Sku::new("s", "k", Rules::default(), Gate::Open);
        let (seen, begun) = (CheckedBack::default(), Instant::now());
        let look =
            |after_ms: u64, to_ms| seen.due(&sku, begun + Duration::from_millis(after_ms), to_ms);
        let looks = [
            (0, 100, Some((0, 100))),
            (999, 150, None),
            (1_000, 200, Some((100, 200))),
            (2_500, 300, Some((200, 300))),
            (30_000, 400, Some((0, 400))),
            (31_000, 500, Some((400, 500))),
        ];
        for (after_ms, to_ms, expected) in looks {
            assert_eq!(look(after_ms, to_ms), expected, "{after_ms}");
        }
        let long_one = begun + Duration::from_secs(30);
        seen.whole_ended(long_one, long_one + Duration::from_secs(1));
        assert_eq!(
            look(60_000, 550),
            Some((500, 550)),
            "after a long one they rest"
        );
        assert_eq!(look(81_000, 560), Some((0, 560)));
        seen.forget(&sku);
        assert_eq!(look(81_100, 600), Some((0, 600)));
    }

    #[test]
    fn whole_looks_of_all_skus_share_the_time_and_take_turns() {
        let skus = ["a", "b", "c"].map(|name| Sku::new("s", name, Rules::default(), Gate::Open));
        let (seen, begun) = (CheckedBack::default(), Instant::now());
        let (mut whole, mut under_way) = (Vec::new(), Vec::new());
        for second in 0..=200 {
            let now = begun + Duration::from_secs(second);
            for whole_begun in under_way.drain(..) {
                seen.whole_ended(whole_begun, whole_begun + Duration::from_millis(500));
            }
            for (sku, name) in skus.iter().zip(["a", "b", "c"]) {
                if seen.due(sku, now, 1) == Some((0, 1)) {
                    whole.push((second, name));
                    under_way.push(now);
                }
            }
        }
        let first = [(0, "a"), (0, "b"), (0, "c")];
        let repeated = [
            (30, "a"),
            (56, "b"),
            (82, "c"),
            (108, "a"),
            (134, "b"),
            (160, "c"),
            (186, "a"),
        ];
        assert_eq!(whole, [&first[..], &repeated].concat());
    }
}
