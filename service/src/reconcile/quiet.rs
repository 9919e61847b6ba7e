//! Makes this node quiet for SKUs whose gate is closed: nobody on the way, and MySQL has every order it promised.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::watch;

use super::patience::Patience;
use crate::operations::alerts::{Alerts, Trouble};
use crate::operations::metrics::Metrics;
use crate::queue::{QueuePath, Queues};
use crate::sale::order::OrderMessage;
use crate::sale::promises::{Promise, PromiseState, Promises};
use crate::sale::sku::{Gate, Sku};
use crate::store::{Store, StoreError, reason};

/// Reason of an order that was granted and whose message never came: a broken promise.
pub const NEVER_APPLIED: &str = "never_applied";

/// A SKU that is to be quiet under an epoch.
#[derive(Clone)]
pub struct Closing {
    pub sku: Arc<Sku>,
    pub epoch: u64,
}

/// Looks after the SKUs that are being closed.
pub struct Quieter {
    /// Name of this node.
    pub node: String,
    pub promises: Arc<Promises>,
    pub store: Store,
    pub queues: Queues,
    pub metrics: Metrics,
    pub alerts: Alerts,
    /// By sale and SKU.
    pub waits: HashMap<(String, String), Wait>,
}

/// The wait for one SKU under one epoch.
#[derive(Debug)]
pub struct Wait {
    epoch: u64,
    patience: Patience,
    has_said_so: bool,
}

impl Wait {
    fn under(epoch: u64) -> Self {
        Self {
            epoch,
            patience: Patience::default(),
            has_said_so: false,
        }
    }
}

impl Quieter {
    /// A look after every reading of the gates, or as often as looks can be had. Ends with the follower.
    pub async fn run(mut self, mut closing: watch::Receiver<Vec<Closing>>) {
        while closing.changed().await.is_ok() {
            let now = closing.borrow_and_update().clone();
            if let Err(error) = self.look(&now).await {
                tracing::debug!(%error, "what is on the way cannot be read");
            }
        }
    }

    /// One look at all SKUs that are closing now; says aloud of which this node has become quiet.
    ///
    /// # Errors
    /// MySQL does not answer; what was not said is said at the next look.
    async fn look(&mut self, closing: &[Closing]) -> Result<(), StoreError> {
        let begun = self.begin(closing);
        self.bring(&begun).await;
        let mut waited_for = closing.to_vec();
        waited_for.retain(|one| self.wait(one).is_some_and(|wait| !wait.has_said_so));
        self.strike_out(&waited_for).await?;
        let (quiet, loud): (Vec<_>, Vec<_>) = waited_for
            .into_iter()
            .partition(|one| self.is_quiet(&one.sku));
        for one in &quiet {
            let Closing { sku, epoch } = one;
            self.store
                .quiet(&self.node, &sku.sale, &sku.sku, *epoch)
                .await?;
            if let Some(wait) = self.wait(one) {
                wait.has_said_so = true;
            }
        }
        self.give_up_overdue(&loud).await
    }

    fn wait(&mut self, closing: &Closing) -> Option<&mut Wait> {
        self.waits.get_mut(&closing.sku.name())
    }

    /// A wait for each, anew when the epoch is; returns those that have begun.
    fn begin(&mut self, closing: &[Closing]) -> Vec<Closing> {
        let mut before = std::mem::take(&mut self.waits);
        let mut begun = Vec::new();
        for one in closing {
            let name = one.sku.name();
            let wait = before.remove(&name);
            let wait = wait.filter(|wait| wait.epoch == one.epoch);
            if wait.is_none() {
                begun.push(one.clone());
            }
            self.waits
                .insert(name, wait.unwrap_or_else(|| Wait::under(one.epoch)));
        }
        begun
    }

    /// Where the messages are in Redis, what it has lost of them may have been promised here.
    async fn bring(&self, begun: &[Closing]) {
        let skus = begun.iter().map(|one| &one.sku);
        for sku in skus.filter(|sku| sku.rules().queue == QueuePath::Stream) {
            let promises = self.promises.of_sku(sku).into_iter();
            let granted = promises.filter(|promise| promise.state == PromiseState::Granted);
            let granted = granted.map(|promise| OrderMessage::clone(&promise.order));
            self.queues.of(sku).queue.adopt(granted.collect()).await;
        }
    }

    fn is_quiet(&self, sku: &Sku) -> bool {
        sku.gate() != Gate::Open && sku.in_flight() == 0 && self.promises.of_sku(sku).is_empty()
    }

    /// Removes what MySQL has by now from the promises.
    async fn strike_out(&self, closing: &[Closing]) -> Result<(), StoreError> {
        let promised = closing
            .iter()
            .flat_map(|one| self.promises.of_sku(&one.sku));
        let ids: Vec<String> = promised
            .map(|promise| promise.order.order_id.clone())
            .collect();
        if ids.is_empty() {
            return Ok(());
        }
        for id in self.store.existing(&ids).await? {
            self.promises.kept(&id);
        }
        Ok(())
    }

    /// Takes messages for lost that have been waited for long enough.
    async fn give_up_overdue(&mut self, loud: &[Closing]) -> Result<(), StoreError> {
        let (queues, now) = (self.queues.clone(), Instant::now());
        let mut readings = HashMap::new();
        for one in loud {
            let path = one.sku.rules().queue;
            let reading = match readings.entry(path) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(queues.reading(path).await),
            };
            if self
                .wait(one)
                .is_some_and(|wait| wait.patience.is_over(now, reading.as_ref()))
            {
                self.give_up(&one.sku).await?;
            }
        }
        Ok(())
    }

    /// The orders get tombstones, so that late messages change nothing.
    async fn give_up(&self, sku: &Sku) -> Result<(), StoreError> {
        let (granted, unsure): (Vec<Promise>, Vec<Promise>) = self
            .promises
            .of_sku(sku)
            .into_iter()
            .partition(|promise| promise.state == PromiseState::Granted);
        let message = |promise: &Promise| OrderMessage::clone(&promise.order);
        let lost: Vec<OrderMessage> = granted.iter().map(message).collect();
        let never_asked: Vec<OrderMessage> = unsure.iter().map(message).collect();
        give_up(&self.store, &self.metrics, &self.alerts, sku, &lost).await?;
        self.store
            .reject(&never_asked, reason::NEVER_RESERVED)
            .await?;
        for message in lost.iter().chain(&never_asked) {
            self.promises.kept(&message.order_id);
        }
        Ok(())
    }
}

/// Breaks the promises of orders whose messages never came.
///
/// # Errors
/// MySQL did not take the tombstones.
pub async fn give_up(
    store: &Store,
    metrics: &Metrics,
    alerts: &Alerts,
    sku: &Sku,
    lost: &[OrderMessage],
) -> Result<usize, StoreError> {
    let given_up = store.reject(lost, NEVER_APPLIED).await?.len();
    if given_up > 0 {
        metrics.never_applied.increment(given_up as u64);
        metrics.broken_promises.increment(given_up as u64);
        let text = format!("{given_up} granted orders given up, their messages never came");
        alerts.raise(Trouble::PromiseBroken, sku, text);
    }
    Ok(given_up)
}
