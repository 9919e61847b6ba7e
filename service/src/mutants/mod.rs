//! Deliberately broken parts, for `flashsale-mutants` only. Each replaces one whole part, chosen once
//! at start; a harness that stays green under one of them is itself broken.

pub mod commits_after_lock_wait;
pub mod read_then_decrement;
pub mod reopen_without_rebuild;

use clap::ValueEnum;

use crate::parts::Parts;
use crate::reconcile::rebuild::RebuildStep;
use crate::stock::round::ReserveStep;
use crate::store::Decrement;

/// The defect of this run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Mutant {
    /// Reads the stock, decides, then decrements: two requests can take the same unit.
    ReadThenDecrement,
    /// The consumer decrements MySQL's stock without looking whether there is any.
    NoStockCondition,
    /// A decrement that waited in vain for the row's lock counts as done, and the rest is committed.
    CommitsAfterLockWait,
    /// Stock is decremented for every delivery of a message, the order inserted once.
    DecrementsEveryDelivery,
    /// After a failover the gate reopens on whatever the new primary holds.
    ReopenWithoutRebuild,
    /// Every check-back is answered with a roll-back.
    CheckBackAlwaysRollsBack,
}

/// Who answers check-backs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CheckBack {
    #[default]
    FromLedger,
    AlwaysRollsBack,
}

impl Mutant {
    /// The parts of a service with this defect; all others are the real ones.
    #[must_use]
    pub fn parts(self) -> Parts {
        let real = Parts::default();
        match self {
            Self::ReadThenDecrement => Parts {
                reserve: ReserveStep::ReadThenDecrement,
                ..real
            },
            Self::NoStockCondition => Parts {
                decrement: Decrement::Unconditional,
                ..real
            },
            Self::CommitsAfterLockWait => Parts {
                decrement: Decrement::DespiteLockWait,
                ..real
            },
            Self::DecrementsEveryDelivery => Parts {
                decrement: Decrement::OfEveryDelivery,
                ..real
            },
            Self::ReopenWithoutRebuild => Parts {
                rebuild: RebuildStep::Skipped,
                ..real
            },
            Self::CheckBackAlwaysRollsBack => Parts {
                check_back: CheckBack::AlwaysRollsBack,
                ..real
            },
        }
    }
}
