//! Mutant `commits-after-lock-wait`: a statement that gave up waiting for a lock is taken for done. The server has
//! rolled back that statement only, so the transaction goes on without it.

use sqlx::mysql::{MySqlDatabaseError, MySqlQueryResult};

const ER_LOCK_WAIT_TIMEOUT: u16 = 1205;

/// Whether the mutant overlooks what became of the statement.
pub fn forgives(done: &sqlx::Result<MySqlQueryResult>) -> bool {
    let error = done.as_ref().err().and_then(sqlx::Error::as_database_error);
    let error = error.and_then(|error| error.try_downcast_ref::<MySqlDatabaseError>());
    error.is_some_and(|error| error.number() == ER_LOCK_WAIT_TIMEOUT)
}
