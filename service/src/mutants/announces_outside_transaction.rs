use std::time::Duration;

use sqlx::{Executor, MySqlConnection, Result as SqlResult};

use super::Mutant;
use crate::parts::{Instead, Parts};

/// Between the two: a crash in a running sale always meets one.
const WINDOW: Duration = Duration::from_millis(50);

pub const MUTANT: Mutant = Mutant {
    name: "announces-outside-transaction",
    breaks: "The order is committed before its announcement is written.",
    kind: "K20",
    control: "MQ-2",
    part: "outbox",
    parts: &AnnouncesOutsideTransaction,
};

struct AnnouncesOutsideTransaction;

impl Parts for AnnouncesOutsideTransaction {
    fn before_announcing<'a>(
        &self,
        connection: &'a mut MySqlConnection,
    ) -> Instead<'a, SqlResult<()>> {
        Some(Box::pin(async move {
            connection.execute("COMMIT").await?;
            tokio::time::sleep(WINDOW).await;
            Ok(())
        }))
    }
}
