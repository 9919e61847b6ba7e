use sqlx::mysql::MySqlDatabaseError;

use super::Mutant;
use crate::parts::Parts;

const ER_LOCK_WAIT_TIMEOUT: u16 = 1205;

pub const MUTANT: Mutant = Mutant {
    name: "commits-after-lock-wait",
    breaks: "A decrement that waited in vain for the lock of its row counts as done, and the rest is committed.",
    kind: "K18",
    control: "DB-5",
    part: "applying step",
    parts: &CommitsAfterLockWait,
};

struct CommitsAfterLockWait;

impl Parts for CommitsAfterLockWait {
    /// The server has rolled back that statement only, so the transaction goes on without it.
    fn decremented(&self, rows: sqlx::Result<u64>) -> sqlx::Result<u64> {
        let error = rows.as_ref().err().and_then(sqlx::Error::as_database_error);
        let error = error.and_then(|error| error.try_downcast_ref::<MySqlDatabaseError>());
        if error.is_some_and(|error| error.number() == ER_LOCK_WAIT_TIMEOUT) {
            return Ok(1);
        }
        rows
    }
}
