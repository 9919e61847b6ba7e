//! Closes a SKU's gate for all nodes, and says so aloud.

use crate::operations::alerts::{Alerts, Trouble};
use crate::sale::sku::Sku;
use crate::store::{GateRow, Store, StoreError};

/// The stock is to be made sure of. Whichever node closes the gate tells whoever is on call.
///
/// # Errors
/// MySQL does not answer.
pub async fn doubt(
    store: &Store,
    alerts: &Alerts,
    row: &GateRow,
    sku: &Sku,
) -> Result<(), StoreError> {
    if store.doubt(row).await? {
        let text = "Redis cannot be trusted; the SKU is closed until it has been rebuilt";
        alerts.raise(Trouble::StockPaused, sku, text);
    }
    Ok(())
}
