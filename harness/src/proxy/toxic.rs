//! What can be done to a link, as the REST API writes it.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Which way the bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    /// From the client to the server.
    Upstream,
    /// From the server to the client.
    #[default]
    Downstream,
}

impl Stream {
    pub const BOTH: [Self; 2] = [Self::Upstream, Self::Downstream];

    fn name(self) -> &'static str {
        match self {
            Self::Upstream => "upstream",
            Self::Downstream => "downstream",
        }
    }
}

/// The effect, with Toxiproxy's attribute names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "attributes", rename_all = "snake_case")]
pub enum Effect {
    /// Delays every chunk by `latency` ± `jitter`, milliseconds; order is kept.
    Latency {
        #[serde(default)]
        latency: u64,
        #[serde(default)]
        jitter: u64,
    },
    /// Black hole: swallows every byte. Closes the connection after `timeout` ms, with 0 only when
    /// the toxic is removed.
    Timeout {
        #[serde(default)]
        timeout: u64,
    },
}

impl Effect {
    fn name(self) -> &'static str {
        match self {
            Self::Latency { .. } => "latency",
            Self::Timeout { .. } => "timeout",
        }
    }
}

/// An effect placed on one direction of a proxy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Toxic {
    /// `<type>_<stream>` unless given.
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub stream: Stream,
    /// Share of the connections that are hit, 0 to 1.
    #[serde(default = "certain")]
    pub toxicity: f64,
    #[serde(flatten)]
    pub effect: Effect,
}

fn certain() -> f64 {
    1.0
}

impl Toxic {
    /// A toxic that hits every connection, under its default name.
    pub fn new(stream: Stream, effect: Effect) -> Self {
        Self {
            name: String::new(),
            stream,
            toxicity: certain(),
            effect,
        }
        .named()
    }

    /// Gives the default name to a nameless toxic.
    pub fn named(mut self) -> Self {
        if self.name.is_empty() {
            self.name = format!("{}_{}", self.effect.name(), self.stream.name());
        }
        self
    }

    /// Whether connection number `connection` of the proxy is hit: a pure function, so that a seed
    /// repeats it and adding a second toxic does not roll the dice again.
    pub fn hits(&self, seed: u64, connection: u64) -> bool {
        if self.toxicity >= 1.0 {
            return true;
        }
        let roll = xxh3_64_with_seed(self.name.as_bytes(), seed ^ connection.rotate_left(32));
        // 53 bits are what an f64 holds exactly.
        let share = (roll >> 11) as f64 / (1_u64 << 53) as f64;
        share < self.toxicity
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_toxiproxy_clients_write() {
        let cases = [
            (
                r#"{"type":"latency","attributes":{"latency":100,"jitter":5}}"#,
                "latency_downstream",
                Effect::Latency {
                    latency: 100,
                    jitter: 5,
                },
            ),
            (
                r#"{"type":"timeout","stream":"upstream","toxicity":1,"attributes":{}}"#,
                "timeout_upstream",
                Effect::Timeout { timeout: 0 },
            ),
        ];
        for (json, name, effect) in cases {
            let toxic = serde_json::from_str::<Toxic>(json).unwrap().named();
            assert_eq!(
                (toxic.name.as_str(), toxic.effect),
                (name, effect),
                "{json}"
            );
        }
    }

    #[test]
    fn an_unknown_type_is_refused_by_name() {
        let error =
            serde_json::from_str::<Toxic>(r#"{"type":"gremlin","attributes":{}}"#).unwrap_err();
        assert!(error.to_string().contains("gremlin"), "{error}");
    }

    #[test]
    fn toxicity_is_a_share_of_connections_and_repeats() {
        let mut toxic = Toxic::new(Stream::Upstream, Effect::Timeout { timeout: 0 });
        for (toxicity, low, high) in [(0.0, 0, 0), (0.25, 2_300, 2_700), (1.0, 10_000, 10_000)] {
            toxic.toxicity = toxicity;
            let hit = |seed| (0..10_000).filter(|c| toxic.hits(seed, *c)).count();
            assert!((low..=high).contains(&hit(7)), "{toxicity}: {}", hit(7));
            assert_eq!(hit(7), hit(7));
        }
    }
}
