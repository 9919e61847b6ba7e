//! Closes SKUs' gates for all nodes, and says so aloud.

use std::sync::Arc;

use futures_util::future::join_all;

use crate::operations::alerts::{Alerts, Trouble};
use crate::sale::sku::Sku;
use crate::store::{GateRow, Store, StoreError};

/// Gates that are closed at once. More would wait for the store's few connections for this, and a beat behind them.
const AT_ONCE: usize = 8;

/// As [`doubt`], for every SKU of a primary that is gone: none waits for the statements of all others.
///
/// # Errors
/// MySQL does not answer.
pub async fn doubt_all(
    store: &Store,
    alerts: &Alerts,
    doubted: &[(GateRow, Arc<Sku>)],
) -> Result<(), StoreError> {
    for some in doubted.chunks(AT_ONCE) {
        let closing = some.iter().map(|(row, sku)| doubt(store, alerts, row, sku));
        join_all(closing)
            .await
            .into_iter()
            .collect::<Result<(), _>>()?;
    }
    Ok(())
}

/// The stock is to be made sure of. Whichever node closes the gate tells whoever is on call.
///
/// # Errors
/// MySQL does not answer.
async fn doubt(store: &Store, alerts: &Alerts, row: &GateRow, sku: &Sku) -> Result<(), StoreError> {
    if store.doubt(row).await? {
        let text = "Redis cannot be trusted; the SKU is closed until it has been rebuilt";
        alerts.raise(Trouble::StockPaused, sku, text);
    }
    Ok(())
}
