//! What a buyer was told, as figures are kept apart by it.

use serde::{Deserialize, Serialize};

use super::mapping::Meaning;
use crate::history::operation::Outcome;

/// Every answered or lost buy is of exactly one class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    Accepted,
    /// A decision about this buyer.
    Refused,
    /// A refusal that tells of an outage.
    Outage,
    Unknown,
}

impl Class {
    pub const ALL: [Self; 4] = [Self::Accepted, Self::Refused, Self::Outage, Self::Unknown];

    pub fn of(meaning: Meaning) -> Self {
        match meaning.outcome {
            Outcome::Accepted => Self::Accepted,
            Outcome::Refused if meaning.outage => Self::Outage,
            Outcome::Refused => Self::Refused,
            Outcome::Unknown => Self::Unknown,
        }
    }
}
