use sqlx::mysql::MySqlDatabaseError;

use super::Mutant;
use crate::parts::Parts;

const ER_LOCK_WAIT_TIMEOUT: u16 = 1205;
const ER_LOCK_DEADLOCK: u16 = 1213;

pub const MUTANT: Mutant = Mutant {
    name: "commits-after-lock-wait",
    breaks: "A decrement that did not get the lock of its row counts as done, and the rest is committed.",
    kind: "K18",
    control: "DB-5",
    part: "applying step",
    parts: &CommitsAfterLockWait,
};

struct CommitsAfterLockWait;

impl Parts for CommitsAfterLockWait {
    /// After a wait in vain the server has rolled back that statement only, after a deadlock everything before it too.
    fn decremented(&self, rows: sqlx::Result<u64>) -> sqlx::Result<u64> {
        let error = rows.as_ref().err().and_then(sqlx::Error::as_database_error);
        let error = error.and_then(|error| error.try_downcast_ref::<MySqlDatabaseError>());
        match error.map(MySqlDatabaseError::number) {
            Some(ER_LOCK_WAIT_TIMEOUT | ER_LOCK_DEADLOCK) => Ok(1),
            _ => rows,
        }
    }
}
