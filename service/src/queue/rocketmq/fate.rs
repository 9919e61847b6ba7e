//! What becomes of a half message whose orders were answered differently: it can be committed whole or not at all.

use rocketmq_client_rust::LocalTransactionState;

/// What one order asks of the message that carries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    /// It is granted and must be delivered.
    Commit,
    /// It is not granted and must not be delivered.
    RollBack,
    /// Another message delivers it, so this one may.
    Either,
    /// Nobody knows yet.
    Unknown,
}

/// What all of them together ask.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Commit,
    RollBack,
    /// Check-back asks again.
    Unknown,
    /// Those that are granted are to be sent apart; the rest is this.
    Part {
        rest: LocalTransactionState,
    },
}

pub(super) fn fate(claims: &[Claim]) -> Fate {
    let is_there = |claim| claims.contains(&claim);
    let doubts = is_there(Claim::Unknown);
    match (is_there(Claim::Commit), is_there(Claim::RollBack)) {
        (true, false) if !doubts => Fate::Commit,
        // Orders that are granted do not wait until the last doubt about others is gone.
        (true, _) if doubts => Fate::Part {
            rest: LocalTransactionState::Unknown,
        },
        (true, _) => Fate::Part {
            rest: LocalTransactionState::RollbackMessage,
        },
        (false, _) if doubts => Fate::Unknown,
        (false, _) => Fate::RollBack,
    }
}

#[cfg(test)]
mod tests {
    use super::Claim::{Commit, Either, RollBack, Unknown};
    use super::*;

    #[test]
    fn a_message_is_committed_only_if_all_of_its_orders_may_be_delivered() {
        let part = |rest| Fate::Part { rest };
        let rolled_back = LocalTransactionState::RollbackMessage;
        let open = LocalTransactionState::Unknown;
        let table: [(&[Claim], Fate); 12] = [
            (&[Commit], Fate::Commit),
            (&[Commit, Commit], Fate::Commit),
            (&[Commit, Either], Fate::Commit),
            (&[RollBack], Fate::RollBack),
            (&[RollBack, Either], Fate::RollBack),
            (&[Either], Fate::RollBack),
            (&[Unknown], Fate::Unknown),
            (&[Unknown, RollBack], Fate::Unknown),
            (&[Unknown, Either], Fate::Unknown),
            (&[RollBack, Commit], part(rolled_back)),
            (&[Commit, Unknown], part(open)),
            (&[Unknown, RollBack, Commit], part(open)),
        ];
        for (claims, expected) in table {
            assert_eq!(fate(claims), expected, "{claims:?}");
        }
    }
}
