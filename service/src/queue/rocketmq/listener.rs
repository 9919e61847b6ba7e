//! The bridge from the library's synchronous transaction listener to our asynchronous reservation.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use rocketmq_client_rust::{LocalTransactionState, TransactionListener};
use rocketmq_model::common::message::MessageTrait;
use rocketmq_model::common::message::message_ext::MessageExt;
use tokio::runtime::Handle;

use crate::failpoints::{Point, reach};
use crate::queue::{Decision, LocalTransaction};
use crate::sale::order::{OrderMessage, Reserved};

/// What a submitted message carries to its listener, and where the listener leaves the outcome.
#[derive(Debug)]
pub(super) struct Call {
    pub order: OrderMessage,
    /// Empty if the listener did not run.
    pub outcome: Arc<OnceLock<Reserved>>,
}

/// Runs on the library's blocking threads and waits there for the service's runtime.
pub(super) struct Listener<L> {
    pub local: Arc<L>,
    pub handle: Handle,
}

impl<L: LocalTransaction> TransactionListener for Listener<L> {
    fn execute_local_transaction(
        &self,
        _message: &dyn MessageTrait,
        argument: Option<&(dyn Any + Send + Sync)>,
    ) -> LocalTransactionState {
        let Some(call) = argument.and_then(|argument| argument.downcast_ref::<Call>()) else {
            tracing::error!("transaction without its order; it is rolled back");
            return LocalTransactionState::RollbackMessage;
        };
        reach(Point::AfterHalfMessage);
        let reserved = self.handle.block_on(self.local.reserve(&call.order));
        if matches!(reserved, Reserved::Granted { .. }) {
            reach(Point::AfterReserve);
        }
        // The slot is new and this listener runs once, so it cannot be taken.
        let _ = call.outcome.set(reserved);
        settle(reserved)
    }

    fn check_local_transaction(&self, message: &MessageExt) -> LocalTransactionState {
        let body = message.body().unwrap_or_default();
        let Ok(order) = serde_json::from_slice::<OrderMessage>(&body) else {
            // Nobody could ever apply it.
            tracing::error!(id = %message.msg_id(), "check-back for a body that is no order; it is rolled back");
            return LocalTransactionState::RollbackMessage;
        };
        match self.handle.block_on(self.local.check(&order)) {
            Decision::Commit => LocalTransactionState::CommitMessage,
            Decision::RollBack => LocalTransactionState::RollbackMessage,
            Decision::Unknown => LocalTransactionState::Unknown,
        }
    }
}

/// What a reservation's outcome means for its half message.
fn settle(reserved: Reserved) -> LocalTransactionState {
    match reserved {
        Reserved::Granted { .. } => LocalTransactionState::CommitMessage,
        // Check-back finds out from the ledger.
        Reserved::Unknown => LocalTransactionState::Unknown,
        // The first half message of this order was or will be committed; this second one is not needed.
        Reserved::Duplicate => LocalTransactionState::RollbackMessage,
        Reserved::SoldOut
        | Reserved::LimitReached
        | Reserved::NotStarted
        | Reserved::Ended
        | Reserved::Closed
        | Reserved::UnknownSku
        | Reserved::Refused
        | Reserved::Unavailable => LocalTransactionState::RollbackMessage,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_grant_commits_and_only_doubt_waits() {
        use LocalTransactionState::{CommitMessage, RollbackMessage, Unknown};
        let table = [
            (Reserved::Granted { remaining: 0 }, CommitMessage),
            (Reserved::Duplicate, RollbackMessage),
            (Reserved::SoldOut, RollbackMessage),
            (Reserved::LimitReached, RollbackMessage),
            (Reserved::NotStarted, RollbackMessage),
            (Reserved::Ended, RollbackMessage),
            (Reserved::Closed, RollbackMessage),
            (Reserved::UnknownSku, RollbackMessage),
            (Reserved::Refused, RollbackMessage),
            (Reserved::Unknown, Unknown),
            (Reserved::Unavailable, RollbackMessage),
        ];
        for (reserved, expected) in table {
            assert_eq!(settle(reserved), expected, "{reserved:?}");
        }
    }
}
