//! Dead letters: messages that were tried often enough, or that nobody can apply, kept for an operator or for the
//! schedule to decide about (MQ-10).

use std::collections::HashSet;

use sqlx::MySqlConnection;
use sqlx::mysql::MySqlRow;

use super::node::NOW_MS;
use super::order::{number, text, those_in};
use super::transaction::Work;
use super::{Store, StoreError};

/// The columns that make a [`DeadLetter`].
const SELECT: &str =
    "SELECT id, kind, order_id, body, reason, tries, parked_at_ms FROM dead_letters";

/// Of a listing at most.
const LISTED_MAX: u32 = 500;

/// What a dead letter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LetterKind {
    /// The order is in MySQL, and nobody was told.
    Announcement,
    /// The order was promised and is not in MySQL.
    Order,
    /// No order can be read from it.
    Unreadable,
}

impl LetterKind {
    const ALL: [Self; 3] = [Self::Announcement, Self::Order, Self::Unreadable];

    /// The name in the database and in the operators' calls.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Announcement => "announcement",
            Self::Order => "order",
            Self::Unreadable => "unreadable",
        }
    }

    fn parse(name: String) -> Result<Self, StoreError> {
        let mut kinds = Self::ALL.into_iter();
        kinds
            .find(|kind| kind.as_str() == name)
            .ok_or(StoreError::UnknownValue {
                what: "kind of dead letter",
                value: name,
            })
    }
}

/// One dead letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    pub id: u64,
    pub kind: LetterKind,
    /// Of what is unreadable: 32 digits that stand for the body.
    pub order_id: String,
    pub body: String,
    /// Why the last try failed.
    pub reason: String,
    pub tries: u32,
    pub parked_at_ms: u64,
}

/// What is to become a dead letter.
#[derive(Debug, Clone, Copy)]
pub struct Letter<'a> {
    pub kind: LetterKind,
    pub order_id: &'a str,
    pub body: &'a str,
    pub reason: &'a str,
    pub tries: u32,
}

impl Store {
    /// Parks a message. One that is parked already counts the further tries.
    pub async fn park(&self, letter: Letter<'_>) -> Result<(), StoreError> {
        let wrap = |source| StoreError::sql("park a message", source);
        let mut connection = self.pool.acquire().await.map_err(wrap)?;
        park(&mut connection, letter).await
    }

    /// How many there are.
    pub async fn dead_letters_count(&self) -> Result<i64, StoreError> {
        sqlx::query_scalar("SELECT COUNT(*) FROM dead_letters")
            .fetch_one(&self.pool)
            .await
            .map_err(|source| StoreError::sql("count dead letters", source))
    }

    /// Which of these orders are parked.
    pub async fn parked(&self, order_ids: &[String]) -> Result<HashSet<String>, StoreError> {
        let rows = "SELECT order_id FROM dead_letters WHERE kind = 'order' AND order_id IN (";
        let wrap = |source| StoreError::sql("look up dead letters", source);
        let mut connection = self.pool.acquire().await.map_err(wrap)?;
        those_in(&mut connection, rows, order_ids).await
    }

    /// The oldest, up to 500.
    pub async fn dead_letters(&self) -> Result<Vec<DeadLetter>, StoreError> {
        let rows = sqlx::query(&format!("{SELECT} ORDER BY id LIMIT ?"))
            .bind(LISTED_MAX)
            .fetch_all(&self.pool)
            .await
            .map_err(|source| StoreError::sql("read dead letters", source))?;
        rows.iter().map(read).collect()
    }

    pub async fn dead_letter(&self, id: u64) -> Result<Option<DeadLetter>, StoreError> {
        let row = sqlx::query(&format!("{SELECT} WHERE id = ?"))
            .bind(id)
            .fetch_optional(&self.pool)
            .await
            .map_err(|source| StoreError::sql("read a dead letter", source))?;
        row.as_ref().map(read).transpose()
    }

    pub async fn remove_dead_letter(&self, id: u64) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM dead_letters WHERE id = ?")
            .bind(id)
            .execute(&self.pool)
            .await
            .map(drop)
            .map_err(|source| StoreError::sql("remove a dead letter", source))
    }

    /// Puts an announcement back into the outbox.
    pub async fn announce_again(&self, id: u64) -> Result<(), StoreError> {
        self.transaction(AnnounceAgain { id }).await
    }
}

struct AnnounceAgain {
    id: u64,
}

impl Work for AnnounceAgain {
    type Outcome = ();
    const ACTION: &'static str = "announce an order again";

    async fn run(&mut self, connection: &mut MySqlConnection) -> Result<(), StoreError> {
        for sql in [
            "INSERT INTO outbox (order_id, body) SELECT order_id, body FROM dead_letters WHERE id = ?",
            "DELETE FROM dead_letters WHERE id = ?",
        ] {
            sqlx::query(sql)
                .bind(self.id)
                .execute(&mut *connection)
                .await
                .map_err(|source| StoreError::sql(Self::ACTION, source))?;
        }
        Ok(())
    }
}

/// Parks a message on a connection, which may be in a transaction.
pub(super) async fn park(
    connection: &mut MySqlConnection,
    letter: Letter<'_>,
) -> Result<(), StoreError> {
    let reason: String = letter.reason.chars().take(255).collect();
    let sql = format!(
        "INSERT INTO dead_letters (kind, order_id, body, reason, tries, parked_at_ms) \
         VALUES (?, ?, ?, ?, ?, {NOW_MS}) \
         ON DUPLICATE KEY UPDATE tries = dead_letters.tries + VALUES(tries), reason = VALUES(reason)"
    );
    sqlx::query(&sql)
        .bind(letter.kind.as_str())
        .bind(letter.order_id)
        .bind(letter.body)
        .bind(reason)
        .bind(letter.tries)
        .execute(connection)
        .await
        .map(drop)
        .map_err(|source| StoreError::sql("park a message", source))
}

fn read(row: &MySqlRow) -> Result<DeadLetter, StoreError> {
    Ok(DeadLetter {
        id: number(row, "id")?,
        kind: LetterKind::parse(text(row, "kind")?)?,
        order_id: text(row, "order_id")?,
        body: text(row, "body")?,
        reason: text(row, "reason")?,
        tries: number(row, "tries")?,
        parked_at_ms: number(row, "parked_at_ms")?,
    })
}
