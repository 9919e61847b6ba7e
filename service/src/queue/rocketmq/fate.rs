//! What becomes of a half message whose orders were answered differently: it can be committed whole or not at all.

use crate::queue::Decision;

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
    Whole(Decision),
    /// Those that are granted are to be sent apart; then this message is this.
    Part {
        rest: Decision,
    },
}

pub(super) fn fate(claims: &[Claim]) -> Fate {
    let is_there = |claim| claims.contains(&claim);
    let doubts = is_there(Claim::Unknown);
    match (is_there(Claim::Commit), is_there(Claim::RollBack)) {
        (true, false) if !doubts => Fate::Whole(Decision::Commit),
        // Orders that are granted do not wait until the last doubt about others is gone.
        (true, _) if doubts => Fate::Part {
            rest: Decision::Unknown,
        },
        (true, _) => Fate::Part {
            rest: Decision::RollBack,
        },
        (false, _) if doubts => Fate::Whole(Decision::Unknown),
        (false, _) => Fate::Whole(Decision::RollBack),
    }
}

#[cfg(test)]
mod tests {
    use super::Claim::{Commit, Either, RollBack, Unknown};
    use super::*;

    #[test]
    fn a_message_is_committed_only_if_all_of_its_orders_may_be_delivered() {
        let part = |rest| Fate::Part { rest };
        let committed = || Fate::Whole(Decision::Commit);
        let rolled_back = || Fate::Whole(Decision::RollBack);
        let open = || Fate::Whole(Decision::Unknown);
        let table: [(&[Claim], Fate); 12] = [
            (&[Commit], committed()),
            (&[Commit, Commit], committed()),
            (&[Commit, Either], committed()),
            (&[RollBack], rolled_back()),
            (&[RollBack, Either], rolled_back()),
            (&[Either], rolled_back()),
            (&[Unknown], open()),
            (&[Unknown, RollBack], open()),
            (&[Unknown, Either], open()),
            (&[RollBack, Commit], part(Decision::RollBack)),
            (&[Commit, Unknown], part(Decision::Unknown)),
            (&[Unknown, RollBack, Commit], part(Decision::Unknown)),
        ];
        for (claims, expected) in table {
            assert_eq!(fate(claims), expected, "{claims:?}");
        }
    }
}
