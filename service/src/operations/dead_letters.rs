//! Dead letters: looked at, replayed or discarded by an operator with audit (MQ-10).

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{Response, StatusCode};

use crate::gateway::App;
use crate::gateway::problem::{json, problem_with_detail};
use crate::gateway::reason::Reason;
use crate::reconcile::applied::AppliedNews;
use crate::sale::order::OrderMessage;
use crate::store::{DeadLetter, Letter, LetterKind, Store, StoreError, reason};

/// A dead letter that stays one.
#[derive(Debug, thiserror::Error)]
pub enum LetterError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("there is no dead letter {0}; it may have been replayed or discarded")]
    Missing(u64),
    #[error("no order can be read from dead letter {0}; discard it")]
    Unreadable(u64),
}

/// What can be done about dead letters.
#[derive(Clone)]
pub struct LetterDesk {
    pub store: Store,
    pub news: AppliedNews,
}

impl LetterDesk {
    /// Tries a letter again; it is gone if that succeeds.
    ///
    /// # Errors
    /// It stays, and counts one more try.
    pub async fn replay(&self, id: u64) -> Result<DeadLetter, LetterError> {
        let letter = self.letter(id).await?;
        self.replayed(&letter).await?;
        Ok(letter)
    }

    /// Gives a letter up: an order becomes a rejected one, and its units and its buyer's right are given back.
    ///
    /// # Errors
    /// MySQL does not answer.
    pub async fn discard(&self, id: u64) -> Result<DeadLetter, LetterError> {
        let letter = self.letter(id).await?;
        self.discarded(&letter).await?;
        Ok(letter)
    }

    async fn letter(&self, id: u64) -> Result<DeadLetter, LetterError> {
        let letter = self.store.dead_letter(id).await?;
        letter.ok_or(LetterError::Missing(id))
    }

    pub(super) async fn replayed(&self, letter: &DeadLetter) -> Result<(), LetterError> {
        match letter.kind {
            LetterKind::Announcement => return Ok(self.store.announce_again(letter.id).await?),
            LetterKind::Unreadable => return Err(LetterError::Unreadable(letter.id)),
            LetterKind::Order => {}
        }
        match self.store.apply(&[order(letter)?]).await {
            Ok(applied) => self.news.tell(&applied),
            Err(error) if error.is_transient() => return Err(error.into()),
            Err(error) => {
                let text = error.to_string();
                self.store.park(again(letter, &text)).await?;
                return Err(error.into());
            }
        }
        Ok(self.store.remove_dead_letter(letter.id).await?)
    }

    pub(super) async fn discarded(&self, letter: &DeadLetter) -> Result<(), LetterError> {
        if letter.kind == LetterKind::Order {
            let orders = [order(letter)?];
            let rejected = self.store.reject(&orders, reason::DISCARDED).await?;
            // Else it has been applied, cancelled or rejected meanwhile.
            if !rejected.is_empty() {
                self.news.given_up(&orders[0]);
            }
        }
        Ok(self.store.remove_dead_letter(letter.id).await?)
    }
}

fn order(letter: &DeadLetter) -> Result<OrderMessage, LetterError> {
    serde_json::from_str(&letter.body).map_err(|_| LetterError::Unreadable(letter.id))
}

fn again<'a>(letter: &'a DeadLetter, reason: &'a str) -> Letter<'a> {
    Letter {
        kind: letter.kind,
        order_id: &letter.order_id,
        body: &letter.body,
        reason,
        tries: 1,
    }
}

/// `GET /ops/v1/dead-letters`
pub async fn list(State(app): State<Arc<App>>) -> Response<Body> {
    match app.letters.store.dead_letters().await {
        Ok(letters) => {
            let letters: Vec<_> = letters.iter().map(shown).collect();
            json(StatusCode::OK, serde_json::Value::from(letters).to_string())
        }
        Err(error) => told(Err(error.into())),
    }
}

/// `POST /ops/v1/dead-letters/{id}/replay`
pub async fn replay(State(app): State<Arc<App>>, Path(id): Path<u64>) -> Response<Body> {
    let done = app.letters.replay(id).await;
    audited(&app, "replay dead letter", done).await
}

/// `POST /ops/v1/dead-letters/{id}/discard`
pub async fn discard(State(app): State<Arc<App>>, Path(id): Path<u64>) -> Response<Body> {
    let done = app.letters.discard(id).await;
    audited(&app, "discard dead letter", done).await
}

async fn audited(app: &App, what: &str, done: Result<DeadLetter, LetterError>) -> Response<Body> {
    if let Ok(letter) = &done {
        let text = format!("{} of order {}", letter.kind.as_str(), letter.order_id);
        if let Err(error) = app.sales.audit(what, "", &text).await {
            return told(Err(error.into()));
        }
    }
    told(done)
}

fn told(done: Result<DeadLetter, LetterError>) -> Response<Body> {
    match done {
        Ok(letter) => json(StatusCode::OK, shown(&letter).to_string()),
        Err(error) => problem_with_detail(reason_of(&error), &error.to_string()),
    }
}

fn reason_of(error: &LetterError) -> Reason {
    match error {
        LetterError::Store(error) if error.is_transient() => Reason::StoreUnavailable,
        LetterError::Missing(_) => Reason::NotFound,
        LetterError::Store(_) | LetterError::Unreadable(_) => Reason::Conflict,
    }
}

fn shown(letter: &DeadLetter) -> serde_json::Value {
    serde_json::json!({
        "id": letter.id,
        "kind": letter.kind.as_str(),
        "order_id": letter.order_id,
        "body": letter.body,
        "reason": letter.reason,
        "tries": letter.tries,
        "parked_at_ms": letter.parked_at_ms,
    })
}
