//! Mutant `check-back-always-rolls-back`: a half message whose commit was lost is thrown away, whatever the
//! ledger says.

use super::{Decision, LocalTransaction};
use crate::sale::order::{OrderMessage, Reserved};

/// Reserves like the real one, and answers every check-back with a roll-back.
pub struct CheckBackAlwaysRollsBack<L>(pub L);

impl<L: LocalTransaction> LocalTransaction for CheckBackAlwaysRollsBack<L> {
    async fn reserve(&self, message: &OrderMessage) -> Reserved {
        self.0.reserve(message).await
    }

    async fn check(&self, _message: &OrderMessage) -> Decision {
        Decision::RollBack
    }
}
