use sqlx::{MySqlConnection, Result as SqlResult};

use super::{Mutant, commit_halfway};
use crate::parts::{Instead, Parts};
use crate::sale::order::OrderMessage;
use crate::store::{Delivery, Entry, Step};

pub const MUTANT: Mutant = Mutant {
    name: "dedupe-outside-transaction",
    breaks: "Stock is decremented for every message that is not marked as consumed, which is done in a transaction of its \
             own afterwards.",
    kind: "K16",
    control: "MQ-6",
    part: "applying step",
    parts: &DedupeOutsideTransaction,
};

struct DedupeOutsideTransaction;

impl Parts for DedupeOutsideTransaction {
    fn marks_last(&self) -> bool {
        true
    }

    fn after<'a>(
        &self,
        step: Step,
        connection: &'a mut MySqlConnection,
    ) -> Instead<'a, SqlResult<()>> {
        match step {
            Step::Enter(Entry::Delivered) => commit_halfway(connection),
            _ => None,
        }
    }

    fn takers<'a, 'm>(&self, delivery: Delivery<'a, 'm>) -> &'a [&'m OrderMessage] {
        delivery.unseen
    }
}
