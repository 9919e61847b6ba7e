use std::time::Duration;

use sqlx::{Executor, MySqlConnection, Result as SqlResult};

use super::Mutant;
use crate::parts::{Instead, Parts};

/// Between the two: nearly all of the writer's time, so that a kill in a running sale meets it.
const WINDOW: Duration = Duration::from_secs(1);

pub const MUTANT: Mutant = Mutant {
    name: "announces-apart",
    breaks: "The order is committed before its announcement is written.",
    kind: "K20",
    control: "MQ-2",
    part: "outbox",
    parts: &AnnouncesApart,
};

struct AnnouncesApart;

impl Parts for AnnouncesApart {
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
