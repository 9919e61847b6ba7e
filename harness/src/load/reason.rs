//! The history's table of reasons: what the harness itself can say about an attempt, then the
//! names of the target's answer rules.

use crate::target::Target;

/// How a connection ended under the requests that were unanswered on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The oldest request was unanswered for the time-out; those behind it go with the connection.
    Timeout,
    /// Reset, or any other socket error after the connection stood.
    Reset,
    /// Closed in good order before the first byte of the answer.
    Closed,
    /// Closed within an answer.
    HalfAnswer,
    /// Bytes that are no HTTP/1.1 answer, or an answer that nobody asked for.
    BadAnswer,
}

/// Reasons that any target can have; their order is their place in the table.
const BUILT_IN: [&str; 9] = [
    "",
    "timeout",
    "reset",
    "closed",
    "half_answer",
    "bad_answer",
    "unmapped_answer",
    "client_error",
    "server_error",
];

/// A whole answer to a buy that no rule of the target maps.
pub const UNMAPPED_ANSWER: u16 = 6;
/// HTTP 4xx to a follow-up.
pub const CLIENT_ERROR: u16 = 7;
/// Any other answer to a follow-up that is no success.
pub const SERVER_ERROR: u16 = 8;

impl Ending {
    /// Place in the table of reasons.
    pub fn reason(self) -> u16 {
        match self {
            Self::Timeout => 1,
            Self::Reset => 2,
            Self::Closed => 3,
            Self::HalfAnswer => 4,
            Self::BadAnswer => 5,
        }
    }
}

/// The table for a target's history: what [`crate::history::HistoryWriter::create`] wants.
pub fn reasons(target: &Target) -> Vec<String> {
    let mut table: Vec<String> = BUILT_IN.map(str::to_owned).to_vec();
    for rule in &target.answers {
        if !table.contains(&rule.reason) {
            table.push(rule.reason.clone());
        }
    }
    table
}

/// Place of a rule's reason in the table.
pub(super) fn place(table: &[String], reason: &str) -> u16 {
    let at = table.iter().position(|known| known == reason);
    at.and_then(|at| u16::try_from(at).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_reasons_stand_where_their_numbers_say() {
        let cases = [
            (Ending::Timeout.reason(), "timeout"),
            (Ending::Reset.reason(), "reset"),
            (Ending::Closed.reason(), "closed"),
            (Ending::HalfAnswer.reason(), "half_answer"),
            (Ending::BadAnswer.reason(), "bad_answer"),
            (UNMAPPED_ANSWER, "unmapped_answer"),
            (CLIENT_ERROR, "client_error"),
            (SERVER_ERROR, "server_error"),
        ];
        for (place, name) in cases {
            assert_eq!(BUILT_IN[usize::from(place)], name);
        }
    }
}
