//! The bridge from the library's synchronous transaction listener to our asynchronous reservation.

use std::any::Any;
use std::sync::{Arc, OnceLock, Weak};

use futures_util::future::join_all;
use rocketmq_client_rust::{LocalTransactionState, TransactionListener};
use rocketmq_model::common::message::MessageTrait;
use rocketmq_model::common::message::message_ext::MessageExt;
use tokio::runtime::Handle;

use super::fate::{Claim, Fate, fate};
use super::transactor::Transactor;
use crate::failpoints::{Point, reach};
use crate::parts::parts;
use crate::queue::{Decision, LocalTransaction, bundle};
use crate::sale::order::{OrderMessage, Reserved};

/// What a submitted message carries to its listener.
#[derive(Debug)]
pub(super) enum Call {
    /// Reserve its orders, and leave the outcomes here; empty if the listener did not run.
    Reserve {
        orders: Arc<[OrderMessage]>,
        outcomes: Arc<OnceLock<Vec<Reserved>>>,
    },
    /// Its orders are reserved already; to be told that it is stored.
    Reserved { is_stored: Arc<OnceLock<()>> },
}

/// Runs on the library's blocking threads and waits there for the service's runtime.
pub(super) struct Listener<L> {
    pub local: Arc<L>,
    pub handle: Handle,
    /// The client that it listens for, once there is one.
    pub client: Arc<OnceLock<Weak<Transactor>>>,
}

impl<L: LocalTransaction> TransactionListener for Listener<L> {
    fn execute_local_transaction(
        &self,
        _message: &dyn MessageTrait,
        argument: Option<&(dyn Any + Send + Sync)>,
    ) -> LocalTransactionState {
        match argument.and_then(|argument| argument.downcast_ref::<Call>()) {
            Some(Call::Reserve { orders, outcomes }) => {
                let decided = self.handle.block_on(self.reserve(orders, outcomes));
                state(parts().settled(decided))
            }
            Some(Call::Reserved { is_stored }) => {
                let _ = is_stored.set(()); // New, and this listener runs once.
                LocalTransactionState::CommitMessage
            }
            None => {
                tracing::error!("transaction without its orders; it is rolled back");
                LocalTransactionState::RollbackMessage
            }
        }
    }

    fn check_local_transaction(&self, message: &MessageExt) -> LocalTransactionState {
        let body = message.body().unwrap_or_default();
        let Ok(orders) = bundle::read(&body) else {
            // Nobody could ever apply it.
            tracing::error!(id = %message.msg_id(), "check-back for a body that is no order; it is rolled back");
            return LocalTransactionState::RollbackMessage;
        };
        state(self.handle.block_on(self.check(&orders)))
    }
}

impl<L: LocalTransaction> Listener<L> {
    async fn reserve(
        &self,
        orders: &[OrderMessage],
        outcomes: &OnceLock<Vec<Reserved>>,
    ) -> Decision {
        reach(Point::AfterHalfMessage);
        let reserved = join_all(orders.iter().map(|order| self.local.reserve(order))).await;
        if reserved.iter().any(Reserved::is_granted) {
            reach(Point::AfterReserve);
        }
        let claims = reserved.iter().copied().map(Claim::from).collect();
        // The slot is new and this listener runs once, so it cannot be taken.
        let _ = outcomes.set(reserved);
        self.settle(orders, claims).await
    }

    async fn check(&self, orders: &[OrderMessage]) -> Decision {
        let decisions = join_all(orders.iter().map(|order| self.local.check(order))).await;
        let claims = decisions.into_iter().map(Claim::from).collect();
        self.settle(orders, claims).await
    }

    /// The answer for the message of these orders. Those that are granted while others are not move to a message of
    /// their own first; until that is stored, check-back goes on asking about this one.
    async fn settle(&self, orders: &[OrderMessage], claims: Vec<Claim>) -> Decision {
        match fate(&claims) {
            Fate::Whole(decided) => decided,
            Fate::Part { rest } => {
                let granted = orders.iter().zip(&claims);
                let granted = granted.filter(|(_, claim)| **claim == Claim::Commit);
                let granted: Vec<&OrderMessage> = granted.map(|(order, _)| order).collect();
                match self.move_out(&granted).await {
                    true => rest,
                    false => Decision::Unknown,
                }
            }
        }
    }

    /// Sends orders that are granted in a message of their own; true once the broker has stored it.
    async fn move_out(&self, granted: &[&OrderMessage]) -> bool {
        let Some(client) = self.client.get().and_then(Weak::upgrade) else {
            return false; // It is being built, or on its way out.
        };
        let is_stored = Arc::<OnceLock<()>>::default();
        let call = Call::Reserved {
            is_stored: Arc::clone(&is_stored),
        };
        if let Err(error) = client.send(granted, call).await {
            tracing::debug!(%error, "granted orders stay in a message that others share");
        }
        is_stored.get().is_some()
    }
}

/// As the library calls it.
fn state(decided: Decision) -> LocalTransactionState {
    match decided {
        Decision::Commit => LocalTransactionState::CommitMessage,
        Decision::RollBack => LocalTransactionState::RollbackMessage,
        Decision::Unknown => LocalTransactionState::Unknown,
    }
}

impl From<Reserved> for Claim {
    fn from(reserved: Reserved) -> Self {
        match reserved {
            Reserved::Granted { .. } => Self::Commit,
            // Check-back finds out from the ledger.
            Reserved::Unknown => Self::Unknown,
            // The first half message of this order was or will be committed; this one is not needed, and if it comes
            // too, the consumption table lets one of them have an effect.
            Reserved::Duplicate => Self::Either,
            Reserved::SoldOut
            | Reserved::LimitReached
            | Reserved::NotStarted
            | Reserved::Ended
            | Reserved::Closed
            | Reserved::UnknownSku
            | Reserved::Refused
            | Reserved::Unavailable => Self::RollBack,
        }
    }
}

impl From<Decision> for Claim {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Commit => Self::Commit,
            Decision::RollBack => Self::RollBack,
            Decision::Unknown => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_grant_commits_and_only_doubt_waits() {
        let table = [
            (Reserved::Granted { remaining: 0 }, Claim::Commit),
            (Reserved::Duplicate, Claim::Either),
            (Reserved::SoldOut, Claim::RollBack),
            (Reserved::LimitReached, Claim::RollBack),
            (Reserved::NotStarted, Claim::RollBack),
            (Reserved::Ended, Claim::RollBack),
            (Reserved::Closed, Claim::RollBack),
            (Reserved::UnknownSku, Claim::RollBack),
            (Reserved::Refused, Claim::RollBack),
            (Reserved::Unknown, Claim::Unknown),
            (Reserved::Unavailable, Claim::RollBack),
        ];
        for (reserved, expected) in table {
            assert_eq!(Claim::from(reserved), expected, "{reserved:?}");
        }
    }
}
