//! Answers of `reserve.lua`, and what a server's error means for a request.

use redis::{ErrorKind, RedisError, ServerErrorKind, Value};

use crate::sale::order::Reserved;

/// Answer of the script to one batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchAnswer {
    /// Units left after the batch. Negative only if the stock had been damaged before.
    pub remaining: i64,
    pub outcomes: Vec<Reserved>,
}

/// Reads the answer to a batch of `count` requests. An answer of another shape is unknown: the
/// script may have run.
#[must_use]
pub fn read_batch(value: Value, count: usize) -> BatchAnswer {
    let unknown = BatchAnswer {
        remaining: 0,
        outcomes: vec![Reserved::Unknown; count],
    };
    let items = match value {
        Value::Array(items) => items,
        Value::ServerError(error) => {
            let outcome = of_error(&RedisError::from(error));
            return BatchAnswer {
                remaining: 0,
                outcomes: vec![outcome; count],
            };
        }
        _ => return unknown,
    };
    let Some((Value::Int(remaining), codes)) = items.split_first() else {
        return unknown;
    };
    if codes.len() != count {
        return unknown;
    }
    BatchAnswer {
        remaining: *remaining,
        outcomes: codes.iter().map(|code| of_code(code, *remaining)).collect(),
    }
}

/// The words that `reserve.lua` answers with.
fn of_code(code: &Value, remaining: i64) -> Reserved {
    let Value::BulkString(word) = code else {
        return Reserved::Unknown;
    };
    match word.as_slice() {
        b"granted" => Reserved::Granted { remaining },
        b"duplicate" => Reserved::Duplicate,
        b"refused" => Reserved::Refused,
        b"sold_out" => Reserved::SoldOut,
        b"limit_reached" => Reserved::LimitReached,
        b"not_started" => Reserved::NotStarted,
        b"ended" => Reserved::Ended,
        b"closed" | b"stale_epoch" => Reserved::Closed,
        b"unknown_sku" => Reserved::UnknownSku,
        b"invalid" => Reserved::Unavailable,
        _ => Reserved::Unknown,
    }
}

/// What an error says about the command it answers. Only errors that the server gives before it
/// runs a script, or at the script's first write, prove that nothing was changed.
#[must_use]
pub fn of_error(error: &RedisError) -> Reserved {
    match error.kind() {
        ErrorKind::Server(kind) if refuses_untouched(kind) => Reserved::Unavailable,
        _ if error.code() == Some("NOREPLICAS") => Reserved::Unavailable,
        _ => Reserved::Unknown,
    }
}

fn refuses_untouched(kind: ServerErrorKind) -> bool {
    use ServerErrorKind as Kind;
    matches!(
        kind,
        Kind::BusyLoading
            | Kind::NoScript
            | Kind::Moved
            | Kind::Ask
            | Kind::TryAgain
            | Kind::ClusterDown
            | Kind::CrossSlot
            | Kind::MasterDown
            | Kind::ReadOnly
            | Kind::NoPerm
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(remaining: i64, codes: &[&str]) -> Value {
        let codes = codes
            .iter()
            .map(|code| Value::BulkString(code.as_bytes().to_vec()));
        Value::Array(
            std::iter::once(Value::Int(remaining))
                .chain(codes)
                .collect(),
        )
    }

    #[test]
    fn every_word_has_its_outcome() {
        let cases = [
            ("granted", Reserved::Granted { remaining: 7 }),
            ("duplicate", Reserved::Duplicate),
            ("refused", Reserved::Refused),
            ("sold_out", Reserved::SoldOut),
            ("limit_reached", Reserved::LimitReached),
            ("not_started", Reserved::NotStarted),
            ("ended", Reserved::Ended),
            ("closed", Reserved::Closed),
            ("stale_epoch", Reserved::Closed),
            ("unknown_sku", Reserved::UnknownSku),
            ("invalid", Reserved::Unavailable),
            ("something else", Reserved::Unknown),
        ];
        for (word, outcome) in cases {
            assert_eq!(
                read_batch(answer(7, &[word]), 1).outcomes,
                [outcome],
                "{word}"
            );
        }
    }

    #[test]
    fn an_answer_of_another_shape_is_unknown() {
        let shapes = [
            Value::Nil,
            Value::Int(3),
            Value::Array(vec![]),
            answer(1, &["granted"]),
        ];
        for value in shapes {
            assert_eq!(read_batch(value, 2).outcomes, [Reserved::Unknown; 2]);
        }
    }

    #[test]
    fn only_errors_before_the_script_ran_prove_that_nothing_happened() {
        let cases = [
            (
                ErrorKind::Server(ServerErrorKind::Moved),
                Reserved::Unavailable,
            ),
            (
                ErrorKind::Server(ServerErrorKind::ReadOnly),
                Reserved::Unavailable,
            ),
            (
                ErrorKind::Server(ServerErrorKind::ClusterDown),
                Reserved::Unavailable,
            ),
            (
                ErrorKind::Server(ServerErrorKind::NoScript),
                Reserved::Unavailable,
            ),
            (
                ErrorKind::Server(ServerErrorKind::ResponseError),
                Reserved::Unknown,
            ),
            (ErrorKind::Io, Reserved::Unknown),
        ];
        for (kind, outcome) in cases {
            assert_eq!(
                of_error(&RedisError::from((kind, "test"))),
                outcome,
                "{kind:?}"
            );
        }
    }
}
