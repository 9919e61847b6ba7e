//! Brings the messages of the streams to MySQL: a SKU's messages are finished after the commit, and what a consumer that
//! died has left pending is taken over.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::sleep;

use super::skus;
use crate::failpoints::{Point, reach};
use crate::parts::parts;
use crate::queue::QueuePath;
use crate::queue::applier::{Applier, Unreadable};
use crate::sale::catalogue::Catalogue;
use crate::sale::order::OrderMessage;
use crate::sale::sku::Sku;
use crate::stock::Stock;
use crate::stock::stream::{StreamMessage, Take};
use crate::store::{Applied, check_storable};

/// Pause after a look that found nothing.
const POLL: Duration = Duration::from_millis(50);
/// Messages that were taken so long ago are taken over; longer than a batch takes in good times.
const IDLE: Duration = Duration::from_secs(5);
/// Time between two looks for those.
const RECLAIM_INTERVAL: Duration = Duration::from_secs(1);

/// Consumes every stream until its task is aborted; what it has in hand then, another takes over.
pub struct StreamConsumer<F> {
    /// Name among the consumers, unique to this process.
    pub name: String,
    pub catalogue: Arc<Catalogue>,
    pub stock: Stock,
    pub applier: Applier<F>,
}

/// What one SKU's stream had.
struct Taken {
    sku: Arc<Sku>,
    messages: Vec<StreamMessage>,
}

impl<F> StreamConsumer<F>
where
    F: Fn(&[Applied]) + Send + Sync + 'static,
{
    pub async fn run(self) {
        let mut reclaimed_at = Instant::now();
        loop {
            let mut found = self.consume(Take::New).await;
            if reclaimed_at.elapsed() >= RECLAIM_INTERVAL {
                reclaimed_at = Instant::now();
                found += self.consume(Take::Idle(IDLE)).await;
            }
            if found == 0 {
                sleep(POLL).await;
            }
        }
    }

    /// One look at all streams, returns how many messages it found.
    async fn consume(&self, take: Take) -> usize {
        let taken = self.take(take).await;
        let mut orders = Vec::new();
        let mut unreadable = Vec::new();
        for one in &taken {
            one.sort(&mut orders, &mut unreadable);
        }
        let found = taken.iter().map(|one| one.messages.len()).sum();
        if found == 0 {
            return 0;
        }
        if parts().finishes_first(QueuePath::Stream) {
            self.finish(&taken).await;
        }
        reach(Point::BeforeApply);
        if self.applier.park_unreadable(&unreadable).await && self.applier.apply(orders).await {
            reach(Point::AfterApply);
            self.finish(&taken).await;
        }
        found
    }

    /// From all streams at once: calls to one primary share a round trip.
    async fn take(&self, take: Take) -> Vec<Taken> {
        let mut asked = JoinSet::new();
        for sku in skus(&self.catalogue) {
            let (stock, name) = (self.stock.clone(), self.name.clone());
            asked.spawn(async move {
                // A primary that is away has nothing to give.
                let messages = stock.take(&sku, &name, take).await.unwrap_or_default();
                Taken { sku, messages }
            });
        }
        let mut taken = asked.join_all().await;
        taken.retain(|one| !one.messages.is_empty());
        taken
    }

    async fn finish(&self, taken: &[Taken]) {
        for Taken { sku, messages } in taken {
            let ids: Vec<String> = messages.iter().map(|message| message.id.clone()).collect();
            if let Err(error) = self.stock.finish(sku, &ids).await {
                tracing::debug!(%error, "messages come again, which changes nothing");
            }
        }
    }
}

impl Taken {
    /// Orders to the orders, and what is none to the rest.
    fn sort(&self, orders: &mut Vec<OrderMessage>, unreadable: &mut Vec<Unreadable>) {
        for message in &self.messages {
            match &message.order {
                Some(order) if check_storable(order).is_ok() => orders.push(order.clone()),
                other => {
                    let (id, stream) = (&message.id, &self.sku.keys.stream);
                    tracing::error!(id, stream, "message is not an order");
                    unreadable.push(Unreadable {
                        body: format!("{stream} {id}: {other:?}"),
                        reason: "not what the reserve script writes".to_owned(),
                    });
                }
            }
        }
    }
}
