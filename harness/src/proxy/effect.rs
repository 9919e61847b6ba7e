//! What a toxic does, with Toxiproxy's attribute names.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::error::ProxyError;

/// Toxiproxy's effects, then ours. Times are milliseconds unless said otherwise; an attribute that is
/// not given is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "attributes", rename_all = "snake_case")]
pub enum Effect {
    /// Delays every chunk by `latency` ± `jitter`; order is kept.
    Latency {
        #[serde(default)]
        latency: u64,
        #[serde(default)]
        jitter: u64,
    },
    /// At most `rate` KB/s, each connection for itself. 0 holds everything back.
    Bandwidth {
        #[serde(default)]
        rate: u64,
    },
    /// The end of the stream comes `delay` later.
    SlowClose {
        #[serde(default)]
        delay: u64,
    },
    /// Black hole: swallows every byte. Closes the connection after `timeout`, with 0 only when the
    /// toxic is removed.
    Timeout {
        #[serde(default)]
        timeout: u64,
    },
    /// Swallows what comes, and resets the connection `timeout` after the first of it.
    ResetPeer {
        #[serde(default)]
        timeout: u64,
    },
    /// Cuts chunks into slices of `average_size` ± `size_variation` bytes, `delay` microseconds apart.
    Slicer {
        #[serde(default)]
        average_size: u64,
        #[serde(default)]
        size_variation: u64,
        #[serde(default)]
        delay: u64,
    },
    /// Closes the connection after `bytes` have passed.
    LimitData {
        #[serde(default)]
        bytes: u64,
    },
    /// Ours. Holds everything back, ends and resets too. Loses nothing: it goes on when removed.
    Stall {},
    /// Ours. New connects hang, as on a host that is gone: neither accepted nor refused. Open
    /// connections go on.
    Unreachable {},
}

impl Effect {
    /// Every type, as the REST API writes it.
    pub const TYPES: [&str; 9] = [
        "latency",
        "bandwidth",
        "slow_close",
        "timeout",
        "reset_peer",
        "slicer",
        "limit_data",
        "stall",
        "unreachable",
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Latency { .. } => "latency",
            Self::Bandwidth { .. } => "bandwidth",
            Self::SlowClose { .. } => "slow_close",
            Self::Timeout { .. } => "timeout",
            Self::ResetPeer { .. } => "reset_peer",
            Self::Slicer { .. } => "slicer",
            Self::LimitData { .. } => "limit_data",
            Self::Stall {} => "stall",
            Self::Unreachable {} => "unreachable",
        }
    }

    /// From a type and its attributes; `null` stands for none.
    ///
    /// # Errors
    /// An unknown type; an attribute that is no whole number from 0 on.
    pub fn read(kind: &str, attributes: Value) -> Result<Self, ProxyError> {
        if !Self::TYPES.contains(&kind) {
            return Err(ProxyError::NoSuchType {
                kind: kind.to_owned(),
            });
        }
        let attributes = if attributes.is_null() {
            json!({})
        } else {
            attributes
        };
        serde_json::from_value(json!({ "type": kind, "attributes": attributes })).map_err(|e| {
            ProxyError::BadBody {
                reason: format!("attributes of `{kind}`: {e}"),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_read_without_attributes_and_written_under_its_name() {
        for kind in Effect::TYPES {
            let effect = Effect::read(kind, Value::Null).unwrap();
            assert_eq!(effect.name(), kind);
            assert_eq!(serde_json::to_value(effect).unwrap()["type"], kind);
        }
    }

    #[test]
    fn wrong_types_and_attributes_are_refused_by_name() {
        for (kind, attributes, named) in [
            ("gremlin", json!({}), "gremlin"),
            ("latency", json!({"latency": -1}), "latency"),
            ("latency", json!({"latency": "soon"}), "soon"),
            ("bandwidth", json!([]), "bandwidth"),
        ] {
            let error = Effect::read(kind, attributes).unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
        }
    }
}
