//! Asking the MySQL-compatible server, past the proxy.

use sqlx::mysql::{MySqlConnection, MySqlRow};
use sqlx::{Connection, Decode, Executor, MySql, Row, Type};

use super::error::FaultError;

/// A connection that names the step that failed.
#[derive(Debug)]
pub(super) struct Session(MySqlConnection);

impl Session {
    pub async fn open(url: &str) -> Result<Self, FaultError> {
        let connection = MySqlConnection::connect(url).await;
        connection.map(Self).map_err(failed("connecting"))
    }

    pub async fn execute(&mut self, step: &'static str, sql: &str) -> Result<(), FaultError> {
        let done = self.0.execute(sqlx::raw_sql(sql)).await;
        done.map(drop).map_err(failed(step))
    }

    pub async fn rows(
        &mut self,
        step: &'static str,
        sql: &str,
    ) -> Result<Vec<MySqlRow>, FaultError> {
        self.0.fetch_all(sql).await.map_err(failed(step))
    }

    /// The first column of all rows.
    pub async fn column<T>(&mut self, step: &'static str, sql: &str) -> Result<Vec<T>, FaultError>
    where
        T: for<'r> Decode<'r, MySql> + Type<MySql>,
    {
        let rows = self.rows(step, sql).await?;
        let values: Result<_, _> = rows.iter().map(|row| row.try_get(0)).collect();
        values.map_err(failed(step))
    }

    /// As [`Self::value`], by the query of this server's product: the first whose name is part of its version.
    pub async fn value_by_product<T>(
        &mut self,
        step: &'static str,
        queries: &[(&str, &str)],
    ) -> Result<T, FaultError>
    where
        T: for<'r> Decode<'r, MySql> + Type<MySql>,
    {
        let version: String = self.value(step, "SELECT VERSION()").await?;
        let mut queries = queries.iter();
        let query = queries.find(|(product, _)| version.contains(product));
        let (_, query) = query.expect("the last one fits every product");
        self.value(step, query).await
    }

    /// The first column of the one row.
    pub async fn value<T>(&mut self, step: &'static str, sql: &str) -> Result<T, FaultError>
    where
        T: for<'r> Decode<'r, MySql> + Type<MySql>,
    {
        let row = self.0.fetch_one(sql).await;
        row.and_then(|row| row.try_get(0)).map_err(failed(step))
    }
}

fn failed(step: &'static str) -> impl FnOnce(sqlx::Error) -> FaultError {
    move |source| FaultError::Sql { step, source }
}
