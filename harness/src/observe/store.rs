//! Orders and stock of the durable store, in one consistent snapshot of its primary.

use std::collections::BTreeMap;
use std::time::Duration;

use sqlx::mysql::{MySqlConnection, MySqlRow};
use sqlx::{Connection, Executor, Row};
use tokio::time::timeout;

use crate::history::final_state::{OrderRow, OrderState, StockRow};

/// Reads MySQL or MariaDB. The text protocol is used, so that every column arrives as text whatever its
/// type and collation.
pub struct StoreSource {
    url: String,
    queries: StoreQueries,
    states: BTreeMap<String, OrderState>,
    limit: Duration,
    connection: Option<MySqlConnection>,
    /// Statements that it has sent.
    sent: u64,
}

/// Orders and stock at one point in time.
pub struct Snapshot {
    pub orders: Vec<OrderRow>,
    pub stock: Vec<StockRow>,
    pub undelivered: Vec<String>,
}

/// What the store is asked, filled in; an empty query is not sent.
#[derive(Clone)]
pub struct StoreQueries {
    pub orders: String,
    pub stock: String,
    pub undelivered: String,
}

impl StoreSource {
    /// `limit` bounds each reading.
    pub fn new(
        url: &str,
        queries: StoreQueries,
        states: BTreeMap<String, OrderState>,
        limit: Duration,
    ) -> Self {
        Self {
            url: url.to_owned(),
            queries,
            states,
            limit,
            connection: None,
            sent: 0,
        }
    }

    /// Statements that the store has executed for others, since it started.
    ///
    /// # Errors
    /// As `snapshot`.
    pub async fn calls(&mut self) -> Result<u64, String> {
        let rows = self.ask(&["SHOW GLOBAL STATUS LIKE 'Questions'"]).await?;
        let row = rows.first().and_then(|rows| rows.first());
        let executed: u64 = number(row.ok_or("it does not count statements")?, "Value")?;
        Ok(executed.saturating_sub(self.sent))
    }

    /// Orders and stock in one snapshot.
    ///
    /// # Errors
    /// The store does not answer in time, refuses a query, or a row is not what the target file says.
    pub async fn snapshot(&mut self) -> Result<Snapshot, String> {
        let StoreQueries {
            orders,
            stock,
            undelivered,
        } = self.queries.clone();
        let asked = [&orders, &stock, &undelivered].map(String::as_str);
        let asked = asked.into_iter().filter(|query| !query.is_empty());
        let mut queries = vec!["START TRANSACTION WITH CONSISTENT SNAPSHOT"];
        queries.extend(asked);
        queries.push("COMMIT");
        let mut answers = self.ask(&queries).await?.into_iter().skip(1);
        let orders = answers.next().unwrap_or_default();
        let stock = answers.next().unwrap_or_default();
        // Without that query this is the answer to COMMIT, which has no rows.
        let undelivered = answers.next().unwrap_or_default();
        Ok(Snapshot {
            orders: orders
                .iter()
                .map(|row| self.order(row))
                .collect::<Result<_, _>>()?,
            stock: stock.iter().map(stock_row).collect::<Result<_, _>>()?,
            undelivered: undelivered
                .iter()
                .map(|row| text(row, "order_id"))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Stock alone.
    ///
    /// # Errors
    /// As `snapshot`.
    pub async fn stock(&mut self) -> Result<Vec<StockRow>, String> {
        let query = self.queries.stock.clone();
        let rows = self.ask(&[&query]).await?.pop().unwrap_or_default();
        rows.iter().map(stock_row).collect()
    }

    /// Runs queries on one connection. A connection that failed or ran out of time is dropped, not reused:
    /// its answer may still be on the way.
    async fn ask(&mut self, queries: &[&str]) -> Result<Vec<Vec<MySqlRow>>, String> {
        let kept = self.connection.take();
        self.sent += queries.len() as u64;
        let answered = timeout(self.limit, run(&self.url, kept, queries)).await;
        let (connection, rows) = answered
            .map_err(|_| format!("no answer within {} ms", self.limit.as_millis()))?
            .map_err(|error| error.to_string())?;
        self.connection = Some(connection);
        Ok(rows)
    }

    fn order(&self, row: &MySqlRow) -> Result<OrderRow, String> {
        let state = text(row, "state")?;
        let state = self.states.get(&state).copied().ok_or_else(|| {
            let known: Vec<&str> = self.states.keys().map(String::as_str).collect();
            format!(
                "order state `{state}` is not in the target's order_states ({})",
                known.join(", ")
            )
        })?;
        Ok(OrderRow {
            order_id: text(row, "order_id")?,
            request_id: text(row, "request_id")?,
            user: text(row, "user")?,
            sku: text(row, "sku")?,
            quantity: number(row, "quantity")?,
            state,
            reason: text(row, "reason")?,
        })
    }
}

async fn run(
    url: &str,
    kept: Option<MySqlConnection>,
    queries: &[&str],
) -> Result<(MySqlConnection, Vec<Vec<MySqlRow>>), sqlx::Error> {
    let mut connection = match kept {
        Some(connection) => connection,
        None => connect(url).await?,
    };
    let mut rows = Vec::with_capacity(queries.len());
    for query in queries {
        rows.push(connection.fetch_all(sqlx::raw_sql(query)).await?);
    }
    Ok((connection, rows))
}

async fn connect(url: &str) -> Result<MySqlConnection, sqlx::Error> {
    let mut connection = MySqlConnection::connect(url).await?;
    let level = sqlx::raw_sql("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    connection.execute(level).await?;
    Ok(connection)
}

fn stock_row(row: &MySqlRow) -> Result<StockRow, String> {
    Ok(StockRow {
        sku: text(row, "sku")?,
        total: number(row, "total")?,
        available: number(row, "available")?,
    })
}

/// A column as text; NULL is empty.
fn text(row: &MySqlRow, column: &'static str) -> Result<String, String> {
    let value: Result<Option<String>, _> = row.try_get_unchecked(column);
    value
        .map(Option::unwrap_or_default)
        .map_err(|error| format!("column `{column}`: {error}"))
}

fn number<N: std::str::FromStr>(row: &MySqlRow, column: &'static str) -> Result<N, String> {
    let text = text(row, column)?;
    text.parse()
        .map_err(|_| format!("column `{column}`: `{text}` is not a whole number in range"))
}
