//! What the paths without half messages share: nobody but this node and the ledger knows of an order that is being
//! reserved.

use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::{LocalTransaction, Submitted};
use crate::failpoints::{Point, reach};
use crate::sale::order::{OrderMessage, Reserved};
use crate::sale::promises::PromiseState;
use crate::sale::transaction::ReserveTransaction;
use crate::store::OrderState;

/// How long a buyer whose reservation got no answer waits for the ledger's, and how often it is looked for.
const SETTLE_PATIENCE: Duration = Duration::from_secs(3);
const SETTLE_LOOK: Duration = Duration::from_millis(20);

/// Where a reservation stands.
pub(super) enum Standing {
    /// Redis holds units for it; `Unknown` if it was the ledger that told.
    Held(Reserved),
    /// Nothing more is to be done.
    Done(Submitted),
}

/// Reserves, and finds out what became of it if there is no answer. The buyer of an order that stays in doubt is told
/// nothing that this node would have to live for: no message would tell anybody else of it.
pub(super) async fn reserve(transaction: &ReserveTransaction, order: &OrderMessage) -> Standing {
    match transaction.reserve(order).await {
        reserved @ Reserved::Granted { .. } => {
            reach(Point::AfterReserve);
            Standing::Held(reserved)
        }
        Reserved::Unknown => timeout(SETTLE_PATIENCE, settled(transaction, order))
            .await
            .unwrap_or(Standing::Done(Submitted::InDoubt)),
        refused => Standing::Done(Submitted::Decided(refused)),
    }
}

/// Waits until the settler knows whether the order is reserved.
async fn settled(transaction: &ReserveTransaction, order: &OrderMessage) -> Standing {
    let ReserveTransaction {
        promises, store, ..
    } = transaction;
    loop {
        match promises.get(&order.order_id).map(|promise| promise.state) {
            Some(PromiseState::Granted) => return Standing::Held(Reserved::Unknown),
            Some(PromiseState::Asked | PromiseState::Unknown) => {}
            None => break,
        }
        sleep(SETTLE_LOOK).await;
    }
    Standing::Done(match store.order(&order.order_id).await {
        Ok(Some(row)) if row.state == OrderState::Rejected => Submitted::Decided(Reserved::Refused),
        Ok(Some(_)) => Submitted::Decided(Reserved::Unknown),
        Ok(None) | Err(_) => Submitted::InDoubt,
    })
}
