use std::time::Duration;

use sqlx::{Executor, MySqlConnection, Result as SqlResult};

use super::Mutant;
use crate::parts::{Instead, Parts};
use crate::store::{Entry, Step};

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
    fn after<'a>(
        &self,
        step: Step,
        connection: &'a mut MySqlConnection,
    ) -> Instead<'a, SqlResult<()>> {
        if step != Step::Enter(Entry::Written) {
            return None;
        }
        Some(Box::pin(async move {
            connection.execute("COMMIT").await?;
            tokio::time::sleep(WINDOW).await;
            Ok(())
        }))
    }
}
