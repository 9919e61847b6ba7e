//! Orders on their way into RocketMQ's transactions, many to a message.
//!
//! A few transactions run at a time; whatever comes meanwhile goes into the next one. So a buyer who comes alone has a
//! message of their own at once, and a rush shares the price of a message, which is most of what an order costs.

use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;

use super::QueueError;
use super::sender::Sender;
use super::transactor::Recipe;
use crate::queue::{LocalTransaction, QueueSettings, Submitted};
use crate::sale::order::{OrderMessage, Reserved};

/// Messages between half message and commit at once: enough that Redis, the broker's disk and both processors are never
/// idle, and few enough that a rush fills them.
pub(super) const MESSAGES_IN_FLIGHT: usize = 8;

/// Sends orders through the queue; clones share everything.
#[derive(Clone)]
pub struct Producer {
    shared: Arc<Shared>,
}

struct Shared {
    sender: Arc<Sender>,
    /// As many wait here as there are seats in the waiting room.
    inbox: mpsc::UnboundedSender<Waiting>,
    bundling: JoinHandle<()>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.bundling.abort();
    }
}

/// An order that waits for its message, and whoever waits for what becomes of it.
struct Waiting {
    order: OrderMessage,
    answer: oneshot::Sender<Submitted>,
}

impl Producer {
    /// Creates the topic if needed and connects; waits up to a minute for a broker that is still starting.
    ///
    /// # Errors
    /// There is none by then, or the client library does not start.
    pub async fn start<L: LocalTransaction>(
        settings: &QueueSettings,
        local: Arc<L>,
    ) -> Result<Self, QueueError> {
        let recipe = Recipe {
            settings: settings.clone(),
            local,
            handle: Handle::current(),
        };
        let sender = Sender::start(recipe).await?;
        let (inbox, waiting) = mpsc::unbounded_channel();
        let bundling = tokio::spawn(bundle(
            Arc::clone(&sender),
            waiting,
            settings.orders_per_message_max,
        ));
        let shared = Shared {
            sender,
            inbox,
            bundling,
        };
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    /// Half message, reservation, commit or roll back. Once begun, a transaction runs to its end even if the caller
    /// goes away.
    pub async fn submit(&self, order: OrderMessage) -> Submitted {
        if !self.is_connected() {
            return Submitted::QueueUnavailable;
        }
        let (answer, answered) = oneshot::channel();
        let sent = self.shared.inbox.send(Waiting { order, answer });
        match (sent, answered.await) {
            (Ok(()), Ok(submitted)) => submitted,
            // The bundling has ended, and nothing was begun.
            _ => Submitted::QueueUnavailable,
        }
    }

    /// The broker answers and the client is connected.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.shared.sender.usable().is_some()
    }

    /// Orders that a message has carried lately, on average; at least one.
    #[must_use]
    pub fn orders_per_message(&self) -> f64 {
        self.shared.sender.filling.mean()
    }

    /// Ends the client after its running transactions.
    pub async fn stop(&self) {
        self.shared.bundling.abort();
        self.shared.sender.stop().await;
    }
}

/// Takes what waits whenever a transaction may begin, until everybody who could send has gone.
async fn bundle(
    sender: Arc<Sender>,
    mut waiting: mpsc::UnboundedReceiver<Waiting>,
    orders_max: usize,
) {
    let places = Arc::new(Semaphore::new(MESSAGES_IN_FLIGHT));
    // The semaphore is never closed.
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        let mut taken = Vec::new();
        if waiting.recv_many(&mut taken, orders_max).await == 0 {
            return;
        }
        let sender = Arc::clone(&sender);
        tokio::spawn(async move {
            transact(sender, taken).await;
            drop(place);
        });
    }
}

async fn transact(sender: Arc<Sender>, taken: Vec<Waiting>) {
    let (orders, answers): (Vec<_>, Vec<_>) =
        taken.into_iter().map(|one| (one.order, one.answer)).unzip();
    let running = tokio::spawn(async move { sender.transact(orders).await });
    // A panic in there is logged by Tokio; whether anything was reserved is then for check-back to find out.
    let submitted = running.await.unwrap_or_else(|_| {
        let unknown = Submitted::Decided(Reserved::Unknown);
        vec![unknown; answers.len()]
    });
    for (answer, submitted) in answers.into_iter().zip(submitted) {
        let _ = answer.send(submitted); // Whoever asked may be gone.
    }
}
