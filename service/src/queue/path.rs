//! The ways from a reservation to an order that a sale can choose from.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// How the orders of a sale get to MySQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[value(rename_all = "lowercase")]
pub enum QueuePath {
    /// Half message, reservation, commit; consumers write the order.
    #[default]
    RocketMq,
    /// Reservation, then the order and its announcement in one transaction; a relay sends the announcement.
    Outbox,
    /// The reservation appends the message to a stream in Redis; consumers write the order.
    Stream,
}

impl QueuePath {
    pub const ALL: [Self; 3] = [Self::RocketMq, Self::Outbox, Self::Stream];

    /// The name in the database and in the operators' calls.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RocketMq => "rocketmq",
            Self::Outbox => "outbox",
            Self::Stream => "stream",
        }
    }

    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|path| path.as_str() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_everywhere() {
        for path in QueuePath::ALL {
            let name = path.as_str();
            assert_eq!(QueuePath::parse(name), Some(path));
            assert_eq!(serde_json::to_value(path).unwrap(), name);
            assert_eq!(path.to_possible_value().unwrap().get_name(), name);
        }
        assert_eq!(QueuePath::parse("carrier-pigeon"), None);
    }
}
