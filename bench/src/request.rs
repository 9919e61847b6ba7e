//! The same request by every tool, how many at a time, and which latencies are asked for.

use serde::Serialize;

pub const PATH: &str = "/buy";
pub const BODY: &str = "sku=7&user=u000000001001&quantity=1&request_id=000000010000000000001001";
/// `BODY` with gaps, as long as `BODY` when a user of 13 characters and a request id of 24 fill them.
pub const TEMPLATE: &str = "sku=7&user={user}&quantity=1&request_id={request_id}";
pub const CONTENT_TYPE: &str = "application/x-www-form-urlencoded";
/// Connections, or users, of every tool.
pub const CONNECTIONS: u32 = 64;
/// Requests in flight on one connection when a tool pipelines.
pub const DEPTH: u32 = 16;
/// What is asked of tools that print any percentile, in per cent.
pub const PERCENTS: [f64; 9] = [10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99];

/// How requests differ from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Requests {
    /// Not at all: the tool may build one and send it again and again.
    Same,
    /// Each has its own user and request id, as every request of a sale must. All are equally long.
    Own,
}

impl Requests {
    /// The body of them all; None when each has its own.
    pub fn one_body(self) -> Option<&'static str> {
        match self {
            Self::Same => Some(BODY),
            Self::Own => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filled_template_is_the_body() {
        let filled = TEMPLATE
            .replace("{user}", "u000000001001")
            .replace("{request_id}", "000000010000000000001001");
        assert_eq!(filled, BODY);
    }
}
