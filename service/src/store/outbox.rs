//! The outbox: announcements that are written with their orders, claimed by a relay, and gone once they are sent.

use sqlx::mysql::MySqlRow;
use sqlx::{MySql, MySqlConnection, QueryBuilder, Transaction};

use super::apply::BATCH_MAX;
use super::dead_letter::{Letter, LetterKind, park};
use super::node::NOW_MS;
use super::order::{number, text};
use super::{Store, StoreError};
use crate::queue::bundle::{self, BUNDLE_MAX};
use crate::sale::order::OrderMessage;

/// Tries of one announcement at most; then it is a dead letter (MQ-9).
pub const TRIES_MAX: u32 = 5;
/// Pause before the next try of an announcement, times the tries so far.
const TRY_PAUSE_MS: u64 = 1_000;

/// One announcement that has not been sent: the orders of one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announcement {
    pub id: u64,
    /// Of the first of them.
    pub order_id: String,
    /// See [`bundle::body`].
    pub body: String,
    pub tries: u32,
}

/// Announcements in the hands of one relay: no other gets them, and all come back if this one dies.
pub struct Claim {
    transaction: Transaction<'static, MySql>,
    pub announcements: Vec<Announcement>,
}

const _: () = assert!(BATCH_MAX <= BUNDLE_MAX, "a transaction is one announcement");

/// Writes the announcement of orders, in the transaction that writes them.
pub(super) async fn announce(
    connection: &mut MySqlConnection,
    orders: &[&OrderMessage],
) -> Result<(), StoreError> {
    let Some(first) = orders.first() else {
        return Ok(());
    };
    sqlx::query("INSERT INTO outbox (order_id, body) VALUES (?, ?)")
        .bind(&first.order_id)
        .bind(bundle::body(orders))
        .execute(connection)
        .await
        .map(drop)
        .map_err(|source| StoreError::sql("announce orders", source))
}

impl Store {
    /// Up to `limit` announcements that are due, the oldest first, without those that another relay has claimed.
    pub async fn claim_announcements(&self, limit: u32) -> Result<Claim, StoreError> {
        let wrap = |source| StoreError::sql("claim announcements", source);
        let mut transaction = self.pool.begin().await.map_err(wrap)?;
        let sql = format!(
            "SELECT id, order_id, body, tries FROM outbox WHERE due_at_ms <= {NOW_MS} \
             ORDER BY due_at_ms, id LIMIT ? FOR UPDATE SKIP LOCKED"
        );
        let rows = sqlx::query(&sql)
            .bind(limit)
            .fetch_all(&mut *transaction)
            .await
            .map_err(wrap)?;
        Ok(Claim {
            transaction,
            announcements: rows.iter().map(read).collect::<Result<_, _>>()?,
        })
    }

    /// Whether there is anything to claim, without claiming it: what an idle relay asks.
    pub async fn has_announcements(&self) -> Result<bool, StoreError> {
        sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM outbox)")
            .fetch_one(&self.pool)
            .await
            .map_err(|source| StoreError::sql("look into the outbox", source))
    }

    /// Announcements that have not been sent.
    pub async fn unsent(&self) -> Result<i64, StoreError> {
        sqlx::query_scalar("SELECT COUNT(*) FROM outbox")
            .fetch_one(&self.pool)
            .await
            .map_err(|source| StoreError::sql("count announcements", source))
    }
}

impl Claim {
    /// Forgets those that were sent, and has the others tried again later, or parks them as dead letters when they have
    /// been tried often enough. Returns how many were parked.
    ///
    /// # Errors
    /// MySQL does not answer: all are sent again by and by, which changes nothing.
    pub async fn settle(
        mut self,
        is_sent: impl Fn(&Announcement) -> bool,
        why_not: &str,
    ) -> Result<usize, StoreError> {
        let (sent, unsent): (Vec<_>, Vec<_>) = self
            .announcements
            .iter()
            .partition(|announcement| is_sent(announcement));
        let (given_up, again): (Vec<_>, Vec<_>) = unsent
            .into_iter()
            .partition(|announcement| announcement.tries + 1 >= TRIES_MAX);
        let connection = &mut *self.transaction;
        for announcement in &given_up {
            let letter = Letter {
                kind: LetterKind::Announcement,
                order_id: &announcement.order_id,
                body: &announcement.body,
                reason: why_not,
                tries: announcement.tries + 1,
            };
            park(connection, letter).await?;
        }
        let done: Vec<u64> = sent.iter().chain(&given_up).map(|one| one.id).collect();
        remove(connection, &done).await?;
        for announcement in again {
            try_later(connection, announcement).await?;
        }
        let parked = given_up.len();
        self.transaction
            .commit()
            .await
            .map_err(|source| StoreError::sql("settle announcements", source))?;
        Ok(parked)
    }
}

async fn remove(connection: &mut MySqlConnection, done: &[u64]) -> Result<(), StoreError> {
    if done.is_empty() {
        return Ok(());
    }
    let mut query = QueryBuilder::new("DELETE FROM outbox WHERE id IN (");
    let mut list = query.separated(", ");
    for id in done {
        list.push_bind(*id);
    }
    query.push(")");
    query
        .build()
        .persistent(false)
        .execute(connection)
        .await
        .map(drop)
        .map_err(|source| StoreError::sql("remove announcements", source))
}

async fn try_later(
    connection: &mut MySqlConnection,
    announcement: &Announcement,
) -> Result<(), StoreError> {
    let sql = format!("UPDATE outbox SET tries = tries + 1, due_at_ms = {NOW_MS} + ? WHERE id = ?");
    sqlx::query(&sql)
        .bind(TRY_PAUSE_MS * u64::from(announcement.tries + 1))
        .bind(announcement.id)
        .execute(connection)
        .await
        .map(drop)
        .map_err(|source| StoreError::sql("put an announcement off", source))
}

fn read(row: &MySqlRow) -> Result<Announcement, StoreError> {
    Ok(Announcement {
        id: number(row, "id")?,
        order_id: text(row, "order_id")?,
        body: text(row, "body")?,
        tries: number(row, "tries")?,
    })
}
