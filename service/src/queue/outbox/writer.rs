//! Writes granted orders to MySQL: whatever has come while the last transaction was committed goes into the next.
//!
//! On several lanes that do not wait for each other. All orders of a SKU are on the same one, so that no two transactions
//! want its row of the stock.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};

use crate::queue::applier::Applier;
use crate::sale::order::OrderMessage;
use crate::store::{Applied, AppliedOutcome, BATCH_MAX, Entry, Store};

/// Transactions at the same time. Each waits more than it works: for MySQL's disk, and for its five statements' way.
const LANES: usize = 4;

/// Handle on the writing tasks; clones share them.
#[derive(Debug, Clone)]
pub struct Writer {
    lanes: Arc<[mpsc::UnboundedSender<OrderMessage>]>,
    waiting: Arc<Waiting>,
    is_stuck: Arc<AtomicBool>,
}

/// Who waits for an order's outcome, by order id.
#[derive(Debug, Default)]
struct Waiting(Mutex<HashMap<String, Vec<oneshot::Sender<AppliedOutcome>>>>);

impl Writer {
    /// Starts to write. `on_applied` hears of each batch after its commit. Ends after the batch in hand when `stopped`
    /// says so: what is not written then is in the ledger.
    pub fn start<F>(
        store: Store,
        batch_max: usize,
        on_applied: F,
        stopped: watch::Receiver<bool>,
    ) -> Self
    where
        F: Fn(&[Applied]) + Send + Sync + 'static,
    {
        let waiting = Arc::<Waiting>::default();
        let is_stuck = Arc::<AtomicBool>::default();
        let told = Arc::clone(&waiting);
        let applier = Applier {
            store,
            entry: Entry::Written,
            batch_max,
            age_max: Duration::MAX, // Nobody has been told yet.
            on_applied: Arc::new(move |applied: &[Applied]| {
                on_applied(applied);
                told.tell(applied);
            }),
            is_stuck: Arc::clone(&is_stuck),
            stopped,
        };
        let lanes = (0..LANES).map(|_| {
            let (lane, taken) = mpsc::unbounded_channel();
            tokio::spawn(write(taken, applier.clone(), Arc::clone(&waiting)));
            lane
        });
        Self {
            lanes: lanes.collect(),
            waiting,
            is_stuck,
        }
    }

    /// Has an order written, and waits for it; None if it is parked, or the writer has ended.
    pub async fn write(&self, order: OrderMessage) -> Option<AppliedOutcome> {
        self.post(order).await.ok()
    }

    /// Has an order written; the outcome comes when it is committed.
    pub fn post(&self, order: OrderMessage) -> oneshot::Receiver<AppliedOutcome> {
        let (outcome, receiver) = oneshot::channel();
        self.waiting.add(&order.order_id, outcome);
        if let Err(refused) = self.lanes[lane_of(&order.sku)].send(order) {
            self.waiting.forget(&[refused.0]); // The writer has ended.
        }
        receiver
    }

    /// Orders that wait for their commit.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.count()
    }

    /// More of them than one transaction takes.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.waiting() > BATCH_MAX
    }

    /// MySQL took the last batch, or none was refused yet.
    #[must_use]
    pub fn is_flowing(&self) -> bool {
        !self.is_stuck.load(Ordering::Relaxed)
    }
}

fn lane_of(sku: &str) -> usize {
    crc32fast::hash(sku.as_bytes()) as usize % LANES
}

/// One lane.
async fn write<F>(
    mut taken: mpsc::UnboundedReceiver<OrderMessage>,
    applier: Applier<F>,
    waiting: Arc<Waiting>,
) where
    F: Fn(&[Applied]) + Send + Sync + 'static,
{
    let mut stopped = applier.stopped.clone();
    loop {
        let mut orders = Vec::new();
        tokio::select! {
            count = taken.recv_many(&mut orders, applier.batch_max) => if count == 0 { return },
            Ok(_) = stopped.wait_for(|stopped| *stopped) => return,
        }
        if !applier.apply_batch(&orders).await {
            return;
        }
        waiting.forget(&orders); // What is parked has no outcome yet.
    }
}

impl Waiting {
    fn add(&self, order_id: &str, outcome: oneshot::Sender<AppliedOutcome>) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting
            .entry(order_id.to_owned())
            .or_default()
            .push(outcome);
    }

    /// Whoever still waits for one of these hears that there will be no outcome.
    fn forget(&self, orders: &[OrderMessage]) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for order in orders {
            waiting.remove(&order.order_id);
        }
    }

    /// Orders whose outcome somebody waits for.
    fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn tell(&self, applied: &[Applied]) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for one in applied {
            for outcome in waiting.remove(&one.order_id).unwrap_or_default() {
                let _ = outcome.send(one.outcome); // Whoever asked may be gone.
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_lane_has_skus() {
        let skus = (0..100).map(|n| format!("sku-{n:02}"));
        let lanes: BTreeSet<usize> = skus.map(|sku| lane_of(&sku)).collect();
        assert_eq!(lanes, (0..LANES).collect());
    }
}
