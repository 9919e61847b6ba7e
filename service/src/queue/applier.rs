//! Orders on their way into MySQL: lanes in parallel, none of which shares a SKU with another.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::sleep;
use uuid::Uuid;

use super::lanes::by_lane;
use crate::parts::{Poison, parts};
use crate::sale::clock;
use crate::sale::order::OrderMessage;
use crate::store::{Applied, Entry, Letter, LetterKind, Store, StoreError, Unstorable, reason};

/// Pause before a batch that MySQL did not take is offered again.
const APPLY_PAUSE: Duration = Duration::from_millis(500);

/// A message that is no order, or fits no row: it cannot come from our gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    pub body: String,
    pub reason: String,
}

/// Applies orders until MySQL has taken them.
pub struct Applier<F> {
    pub store: Store,
    pub entry: Entry,
    /// Orders of one transaction at most.
    pub batch_max: usize,
    /// A message that comes so long after its purchase is not applied (MQ-7).
    pub age_max: Duration,
    pub on_applied: Arc<F>,
    /// MySQL has refused what was offered last.
    pub is_stuck: Arc<AtomicBool>,
    pub stopped: watch::Receiver<bool>,
}

impl<F> Applier<F>
where
    F: Fn(&[Applied]) + Send + Sync + 'static,
{
    /// True when everything is applied, false if stopped before.
    pub async fn apply(&self, orders: Vec<OrderMessage>) -> bool {
        let mut lanes = JoinSet::new();
        for orders in by_lane(orders) {
            let applier = self.clone();
            lanes.spawn(async move {
                for batch in orders.chunks(applier.batch_max) {
                    if !applier.apply_batch(batch).await {
                        return false;
                    }
                }
                true
            });
        }
        let mut all = true;
        while let Some(lane) = lanes.join_next().await {
            all &= lane.unwrap_or(false);
        }
        all
    }

    /// Offers one batch until it is taken: an order that was promised is never dropped. One that MySQL cannot store is
    /// parked alone.
    pub(super) async fn apply_batch(&self, batch: &[OrderMessage]) -> bool {
        loop {
            let taken = match self.enter(batch).await {
                Err(error) if !error.is_transient() => self.isolate(batch, error).await,
                entered => entered.map(|()| true),
            };
            self.is_stuck.store(taken.is_err(), Ordering::Relaxed);
            match taken {
                Ok(taken) => return taken,
                Err(error) => tracing::warn!(%error, "batch is offered to MySQL again"),
            }
            if *self.stopped.borrow() {
                return false;
            }
            sleep(APPLY_PAUSE).await;
        }
    }

    async fn enter(&self, batch: &[OrderMessage]) -> Result<(), StoreError> {
        let now_ms = clock::now_ms();
        if !batch.iter().any(|order| self.is_stale(order, now_ms)) {
            return self.enter_fresh(batch).await;
        }
        // MySQL's clock must say so too: this node's may be wrong.
        let now_ms = now_ms.min(self.store.now_ms().await?);
        let orders = batch.iter().cloned();
        let (stale, fresh): (Vec<_>, Vec<_>) =
            orders.partition(|order| self.is_stale(order, now_ms));
        if !stale.is_empty() {
            tracing::error!(
                orders = stale.len(),
                "messages came too late; their units are given back"
            );
            if parts().rejects_stale() {
                self.store.reject(&stale, reason::STALE).await?;
            }
        }
        self.enter_fresh(&fresh).await
    }

    async fn enter_fresh(&self, fresh: &[OrderMessage]) -> Result<(), StoreError> {
        if !fresh.is_empty() {
            (self.on_applied)(&self.store.enter(fresh, self.entry).await?);
        }
        Ok(())
    }

    fn is_stale(&self, order: &OrderMessage, now_ms: u64) -> bool {
        let age_ms = now_ms.saturating_sub(order.at_ms);
        self.entry == Entry::Delivered && u128::from(age_ms) > self.age_max.as_millis()
    }

    /// Sets aside the orders of a refused batch that MySQL cannot store, so that the others do not wait for them. If none can
    /// be named, halves are offered, down to single orders.
    async fn isolate(&self, batch: &[OrderMessage], error: StoreError) -> Result<bool, StoreError> {
        match (batch, error) {
            (batch, StoreError::Unstorable(unstorable)) => {
                let mut rest = Vec::with_capacity(batch.len());
                for order in batch {
                    match unstorable.iter().find(|one| one.order_id == order.order_id) {
                        Some(one) => self.set_aside(order, &one.reason).await?,
                        None => rest.push(order.clone()),
                    }
                }
                Ok(rest.is_empty() || Box::pin(self.apply_batch(&rest)).await)
            }
            ([order], error) => self
                .set_aside(order, &error.to_string())
                .await
                .map(|()| true),
            (batch, _) => {
                let (first, second) = batch.split_at(batch.len() / 2);
                Ok(Box::pin(self.apply_batch(first)).await
                    && Box::pin(self.apply_batch(second)).await)
            }
        }
    }

    async fn set_aside(&self, order: &OrderMessage, why: &str) -> Result<(), StoreError> {
        tracing::error!(
            order = order.order_id,
            why,
            "MySQL cannot store this order; it is parked"
        );
        let letter = Letter {
            kind: LetterKind::Order,
            order_id: &order.order_id,
            body: &order.body(),
            reason: why,
            tries: 1,
        };
        match parts().poison() {
            Poison::Parked => self.store.park(letter).await,
            Poison::Dropped => Ok(()),
            Poison::OfferedAgain => Err(StoreError::Unstorable(vec![Unstorable {
                order_id: order.order_id.clone(),
                reason: why.to_owned(),
            }])),
        }
    }

    /// Parks bodies that are no orders; they come again from a queue that is not told that they are done.
    pub async fn park_unreadable(&self, bodies: &[Unreadable]) -> bool {
        for Unreadable { body, reason } in bodies {
            let id = Uuid::new_v5(&Uuid::NAMESPACE_OID, body.as_bytes()).simple();
            let letter = Letter {
                kind: LetterKind::Unreadable,
                order_id: &id.to_string(),
                body,
                reason,
                tries: 1,
            };
            while let Err(error) = self.store.park(letter).await {
                tracing::warn!(%error, "unreadable message cannot be parked yet");
                if *self.stopped.borrow() {
                    return false;
                }
                sleep(APPLY_PAUSE).await;
            }
        }
        true
    }
}

impl<F> Clone for Applier<F> {
    fn clone(&self) -> Self {
        Self {
            store: self.store.clone(),
            entry: self.entry,
            batch_max: self.batch_max,
            age_max: self.age_max,
            on_applied: Arc::clone(&self.on_applied),
            is_stuck: Arc::clone(&self.is_stuck),
            stopped: self.stopped.clone(),
        }
    }
}
