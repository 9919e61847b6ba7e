use sqlx::{MySqlConnection, Result as SqlResult};

use super::{Mutant, commit_halfway};
use crate::parts::{Instead, Parts};
use crate::store::Step;

pub const MUTANT: Mutant = Mutant {
    name: "mark-before-work",
    breaks: "Messages are marked as consumed in a transaction of their own, before they have had their effect.",
    kind: "K17",
    control: "MQ-6",
    part: "applying step",
    parts: &MarkBeforeWork,
};

struct MarkBeforeWork;

impl Parts for MarkBeforeWork {
    fn after<'a>(
        &self,
        step: Step,
        connection: &'a mut MySqlConnection,
    ) -> Instead<'a, SqlResult<()>> {
        match step {
            Step::Mark => commit_halfway(connection),
            _ => None,
        }
    }
}
