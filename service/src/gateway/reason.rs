//! Every answer to a buyer: its machine-readable reason, its status, its text.

use axum::http::StatusCode;

/// Why a request got its answer. The order is that of the counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Reason {
    /// Accepted.
    Queued,
    /// The same order again.
    Duplicate,
    SoldOut,
    LimitReached,
    NotStarted,
    Ended,
    Busy,
    UnknownSku,
    UnknownOrder,
    /// The gate is closed while the stock is being made sure of.
    Paused,
    QueueUnavailable,
    StoreUnavailable,
    /// Nobody knows yet whether it was accepted; the same request again tells.
    InDoubt,
    /// An earlier attempt of this request id was given up; it can never become an order.
    NeverReserved,
    BadRequest,
    /// Another change of the order came first.
    StateConflict,
    Unauthorized,
    Conflict,
    NotFound,
}

impl Reason {
    pub const ALL: [Self; 19] = [
        Self::Queued,
        Self::Duplicate,
        Self::SoldOut,
        Self::LimitReached,
        Self::NotStarted,
        Self::Ended,
        Self::Busy,
        Self::UnknownSku,
        Self::UnknownOrder,
        Self::Paused,
        Self::QueueUnavailable,
        Self::StoreUnavailable,
        Self::InDoubt,
        Self::NeverReserved,
        Self::BadRequest,
        Self::StateConflict,
        Self::Unauthorized,
        Self::Conflict,
        Self::NotFound,
    ];

    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Duplicate => "duplicate",
            Self::SoldOut => "sold_out",
            Self::LimitReached => "limit_reached",
            Self::NotStarted => "not_started",
            Self::Ended => "ended",
            Self::Busy => "busy",
            Self::UnknownSku => "unknown_sku",
            Self::UnknownOrder => "unknown_order",
            Self::Paused => "paused",
            Self::QueueUnavailable => "queue_unavailable",
            Self::StoreUnavailable => "store_unavailable",
            Self::InDoubt => "in_doubt",
            Self::NeverReserved => "never_reserved",
            Self::BadRequest => "bad_request",
            Self::StateConflict => "state_conflict",
            Self::Unauthorized => "unauthorized",
            Self::Conflict => "conflict",
            Self::NotFound => "not_found",
        }
    }

    #[must_use]
    pub fn status(self) -> StatusCode {
        match self {
            Self::Queued => StatusCode::ACCEPTED,
            Self::Duplicate => StatusCode::OK,
            Self::SoldOut | Self::NeverReserved | Self::StateConflict | Self::Conflict => {
                StatusCode::CONFLICT
            }
            Self::LimitReached | Self::NotStarted | Self::Ended => StatusCode::FORBIDDEN,
            Self::Busy => StatusCode::TOO_MANY_REQUESTS,
            Self::UnknownSku | Self::UnknownOrder | Self::NotFound => StatusCode::NOT_FOUND,
            Self::Paused | Self::QueueUnavailable | Self::StoreUnavailable | Self::InDoubt => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            Self::BadRequest => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
        }
    }

    /// For people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Queued => "Queued",
            Self::Duplicate => "The same order again",
            Self::SoldOut => "Sold out",
            Self::LimitReached => "Purchase limit reached",
            Self::NotStarted => "The sale has not started",
            Self::Ended => "The sale has ended",
            Self::Busy => "Too many buyers at once; try again",
            Self::UnknownSku => "No such SKU in this sale",
            Self::UnknownOrder => "No such order",
            Self::Paused => "The sale pauses for a few seconds",
            Self::QueueUnavailable => "Orders cannot be taken at the moment",
            Self::StoreUnavailable => "The order store cannot be reached at the moment",
            Self::InDoubt => {
                "It is not known yet whether the order was taken; ask again with the same request id"
            }
            Self::NeverReserved => "This request was given up; buy again with a new request id",
            Self::BadRequest => "The request is malformed",
            Self::StateConflict => "The order is in another state",
            Self::Unauthorized => "Operators only",
            Self::Conflict => "Not possible in this state",
            Self::NotFound => "Not found",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_stands_at_its_own_place() {
        for (place, reason) in Reason::ALL.iter().enumerate() {
            assert_eq!(*reason as usize, place, "{reason:?}");
        }
    }
}
