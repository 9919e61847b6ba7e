//! The steps of a journey, and how a journey ends.

use serde::{Deserialize, Serialize};

use crate::history::operation::OperationKind;

/// One kind of request of a buyer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    Challenge,
    Buy,
    Poll,
    Pay,
    Cancel,
}

impl Step {
    pub const ALL: [Self; 5] = [
        Self::Challenge,
        Self::Buy,
        Self::Poll,
        Self::Pay,
        Self::Cancel,
    ];

    /// The name of its requests in Goose's metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Challenge => "challenge",
            Self::Buy => "buy",
            Self::Poll => "poll",
            Self::Pay => "pay",
            Self::Cancel => "cancel",
        }
    }

    /// What it is in the history. A challenge asks for nothing that a store keeps: it is not there.
    pub fn kind(self) -> Option<OperationKind> {
        match self {
            Self::Challenge => None,
            Self::Buy => Some(OperationKind::Buy),
            Self::Poll => Some(OperationKind::Status),
            Self::Pay => Some(OperationKind::Pay),
            Self::Cancel => Some(OperationKind::Cancel),
        }
    }
}

/// How a journey ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    Paid,
    Cancelled,
    /// The buyer got an order and did nothing more.
    Left,
    /// The buyer was refused, at once or by an order that was accepted and then given up.
    Refused,
    /// The order was not decided within the polls of a buyer.
    NeverFinal,
    /// A step went wrong: no answer, one that nobody understands, or a payment that was declined.
    Failed,
    /// The load ended first.
    CutShort,
}

impl End {
    /// Its name, as in `journeys.json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Paid => "paid",
            Self::Cancelled => "cancelled",
            Self::Left => "left",
            Self::Refused => "refused",
            Self::NeverFinal => "never_final",
            Self::Failed => "failed",
            Self::CutShort => "cut_short",
        }
    }

    /// The buyer went all the way; the others say nothing about how long a journey takes.
    pub fn is_whole(self) -> bool {
        !matches!(self, Self::Failed | Self::CutShort)
    }
}
