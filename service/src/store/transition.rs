//! Pay and cancel: exactly one of the racing changes of an order wins (BZ-5).

use sqlx::MySqlConnection;

use super::order::{OrderState, number, text};
use super::stock::{SkuStock, StockTables};
use super::transaction::Work;
use super::{Store, StoreError, now_ms, release};
use crate::parts::parts;

/// Whatever else became of the order before wins.
pub const PAY: &str =
    "UPDATE orders SET state = 'paid', updated_at_ms = ? WHERE order_id = ? AND state = 'created'";

/// Outcome of a state change that somebody asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transition {
    /// The order is in this state now, by this call.
    Done(OrderState),
    /// Another change came first; the order is in this state.
    Lost(OrderState),
    /// MySQL has no such order (its message may still be on the way).
    NotFound,
}

impl Store {
    /// Created -> paid.
    pub async fn pay(&self, order_id: &str) -> Result<Transition, StoreError> {
        self.transaction(Pay { order_id, tries: 0 }).await
    }

    /// Created -> cancelled: state, stock and the demand to release in Redis change together (BZ-6).
    pub async fn cancel(&self, order_id: &str) -> Result<Transition, StoreError> {
        self.transaction(Cancel {
            order_id,
            tables: self.tables,
            tries: 0,
        })
        .await
    }
}

struct Pay<'a> {
    order_id: &'a str,
    tries: u32,
}

impl Work for Pay<'_> {
    type Outcome = Transition;
    const ACTION: &'static str = "pay order";

    async fn run(&mut self, connection: &mut MySqlConnection) -> Result<Transition, StoreError> {
        self.tries += 1;
        let outcome = pay(connection, self.order_id).await?;
        Ok(outcome.of_try(self.tries, OrderState::Paid))
    }
}

struct Cancel<'a> {
    order_id: &'a str,
    tables: StockTables,
    tries: u32,
}

impl Work for Cancel<'_> {
    type Outcome = Transition;
    const ACTION: &'static str = "cancel order";

    async fn run(&mut self, connection: &mut MySqlConnection) -> Result<Transition, StoreError> {
        self.tries += 1;
        let outcome = cancel(connection, self.tables, self.order_id).await?;
        Ok(outcome.of_try(self.tries, OrderState::Cancelled))
    }
}

impl Transition {
    /// A repeated try that finds the wanted state there takes it for the work of the first one, whose COMMIT
    /// had an unknown outcome.
    pub(super) fn of_try(self, tries: u32, wanted: OrderState) -> Self {
        if tries > 1 && self == Self::Lost(wanted) {
            Self::Done(wanted)
        } else {
            self
        }
    }
}

async fn pay(connection: &mut MySqlConnection, order_id: &str) -> Result<Transition, StoreError> {
    let wrap = |source| StoreError::sql("pay order", source);
    let paid = sqlx::query(&parts().statement(PAY))
        .bind(now_ms())
        .bind(order_id)
        .execute(&mut *connection)
        .await
        .map_err(wrap)?;
    if paid.rows_affected() == 1 {
        return Ok(Transition::Done(OrderState::Paid));
    }
    let row = sqlx::query("SELECT state FROM orders WHERE order_id = ?")
        .bind(order_id)
        .fetch_optional(&mut *connection)
        .await
        .map_err(wrap)?;
    row.map_or(Ok(Transition::NotFound), |row| {
        Ok(Transition::Lost(OrderState::parse(&text(&row, "state")?)?))
    })
}

/// Cancels inside a transaction. Locks the order before the stock, as applying does: no deadlock between them.
pub(super) async fn cancel(
    connection: &mut MySqlConnection,
    tables: StockTables,
    order_id: &str,
) -> Result<Transition, StoreError> {
    let wrap = |source| StoreError::sql("cancel order", source);
    let Some(row) =
        sqlx::query("SELECT state, sale, sku, quantity FROM orders WHERE order_id = ? FOR UPDATE")
            .bind(order_id)
            .fetch_optional(&mut *connection)
            .await
            .map_err(wrap)?
    else {
        return Ok(Transition::NotFound);
    };
    let state = OrderState::parse(&text(&row, "state")?)?;
    if state != OrderState::Created {
        return Ok(Transition::Lost(state));
    }
    let (sale, sku) = (text(&row, "sale")?, text(&row, "sku")?);
    let quantity: u32 = number(&row, "quantity")?;
    sqlx::query(
        "UPDATE orders SET state = 'cancelled', live_key = NULL, updated_at_ms = ? \
         WHERE order_id = ? AND state = 'created'",
    )
    .bind(now_ms())
    .bind(order_id)
    .execute(&mut *connection)
    .await
    .map_err(wrap)?;
    release::demand(connection, order_id, &sale, &sku).await?;
    let mut stock = SkuStock {
        connection,
        tables,
        sale: &sale,
        sku: &sku,
    };
    stock.give_back(i64::from(quantity)).await?;
    Ok(Transition::Done(OrderState::Cancelled))
}
