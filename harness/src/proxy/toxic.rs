//! An effect on one direction of a link, as the REST API writes it.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64_with_seed;

pub use super::effect::Effect;
use super::error::ProxyError;

/// Which way the bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
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

    pub fn name(self) -> &'static str {
        match self {
            Self::Upstream => "upstream",
            Self::Downstream => "downstream",
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
    /// Ours: only connections whose client has this address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<IpAddr>,
    /// Ours: the lease that removes the toxic when it ends. Given by a header, never by the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<String>,
}

fn certain() -> f64 {
    1.0
}

impl Toxic {
    /// A toxic that hits every connection, under its default name.
    pub fn new(stream: Stream, effect: Effect) -> Self {
        Self {
            name: format!("{}_{}", effect.name(), stream.name()),
            stream,
            toxicity: certain(),
            effect,
            from: None,
            lease: None,
        }
    }

    /// Limits the toxic to connections from `client`.
    #[must_use]
    pub fn only_from(mut self, client: IpAddr) -> Self {
        self.from = Some(client);
        self
    }

    /// Whether connection number `connection` of the proxy, from `client`, is hit: a pure function, so
    /// that a seed repeats it and adding a second toxic does not roll the dice again.
    pub fn hits(&self, seed: u64, connection: u64, client: IpAddr) -> bool {
        if self.from.is_some_and(|from| from != client) {
            return false;
        }
        if self.toxicity >= 1.0 {
            return true;
        }
        let roll = xxh3_64_with_seed(self.name.as_bytes(), seed ^ connection.rotate_left(32));
        // 53 bits are what an f64 holds exactly.
        let share = (roll >> 11) as f64 / (1_u64 << 53) as f64;
        share < self.toxicity
    }

    /// What no link can do.
    fn checked(self) -> Result<Self, ProxyError> {
        let bad = |reason: String| Err(ProxyError::BadBody { reason });
        if !(0.0..=1.0).contains(&self.toxicity) {
            return bad(format!("toxicity {} is not from 0 to 1", self.toxicity));
        }
        if matches!(self.effect, Effect::Unreachable {}) {
            if self.toxicity < 1.0 {
                return bad("unreachable hits every connect: no toxicity below 1".to_owned());
            }
            if self.from.is_some_and(|from| from.is_ipv6()) {
                return bad("unreachable knows clients by IPv4 addresses only".to_owned());
            }
        }
        Ok(self)
    }
}

/// A toxic as a client asks for it, read as leniently as Toxiproxy does.
#[derive(Debug, Deserialize)]
pub struct ToxicRequest {
    #[serde(default)]
    name: String,
    #[serde(default, rename = "type")]
    kind: String,
    stream: Option<String>,
    toxicity: Option<f64>,
    #[serde(default)]
    attributes: Value,
    from: Option<IpAddr>,
}

impl TryFrom<ToxicRequest> for Toxic {
    type Error = ProxyError;

    fn try_from(request: ToxicRequest) -> Result<Self, ProxyError> {
        let stream = match request.stream.as_deref().map(str::to_lowercase) {
            None => Stream::default(),
            Some(text) => Stream::BOTH
                .into_iter()
                .find(|stream| stream.name() == text)
                .ok_or(ProxyError::NoSuchStream { stream: text })?,
        };
        let effect = Effect::read(&request.kind, request.attributes)?;
        let mut toxic = Self::new(stream, effect);
        if !request.name.is_empty() {
            toxic.name = request.name;
        }
        toxic.toxicity = request.toxicity.unwrap_or(certain());
        toxic.from = request.from;
        toxic.checked()
    }
}

/// What an update of a toxic may change: attributes one by one, and the toxicity.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ToxicUpdate {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toxicity: Option<f64>,
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub attributes: serde_json::Map<String, Value>,
}

impl ToxicUpdate {
    /// # Errors
    /// Values that no toxic can have.
    pub fn apply(self, toxic: &Toxic) -> Result<Toxic, ProxyError> {
        let bad = |e: serde_json::Error| ProxyError::BadBody {
            reason: e.to_string(),
        };
        let mut attributes = serde_json::to_value(toxic.effect).map_err(bad)?["attributes"].take();
        for (name, value) in self.attributes {
            attributes[name] = value;
        }
        let updated = Toxic {
            effect: Effect::read(toxic.effect.name(), attributes)?,
            toxicity: self.toxicity.unwrap_or(toxic.toxicity),
            ..toxic.clone()
        };
        updated.checked()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    fn read(json: &str) -> Result<Toxic, ProxyError> {
        serde_json::from_str::<ToxicRequest>(json)
            .unwrap()
            .try_into()
    }

    #[test]
    fn reads_what_toxiproxy_clients_write() {
        let timeout = Effect::Timeout { timeout: 0 };
        for (json, name, effect) in [
            (
                r#"{"type":"latency","attributes":{"latency":100,"jitter":5}}"#,
                "latency_downstream",
                Effect::Latency {
                    latency: 100,
                    jitter: 5,
                },
            ),
            (
                r#"{"type":"timeout","stream":"Upstream","toxicity":1,"attributes":{}}"#,
                "timeout_upstream",
                timeout,
            ),
            (r#"{"type":"timeout","name":"hole"}"#, "hole", timeout),
        ] {
            let toxic = read(json).unwrap();
            assert_eq!((toxic.name.as_str(), toxic.effect), (name, effect));
        }
    }

    #[test]
    fn what_no_link_can_do_is_refused() {
        for (json, named) in [
            (r#"{"type":"gremlin"}"#, "gremlin"),
            (r#"{"type":"stall","stream":"sideways"}"#, "sideways"),
            (r#"{"type":"stall","toxicity":1.5}"#, "1.5"),
            (r#"{"type":"unreachable","toxicity":0.5}"#, "toxicity"),
            (r#"{"type":"unreachable","from":"::1"}"#, "IPv4"),
        ] {
            let error = read(json).unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
        }
    }

    #[test]
    fn toxicity_is_a_share_of_connections_and_repeats() {
        let mut toxic = Toxic::new(Stream::Upstream, Effect::Timeout { timeout: 0 });
        for (toxicity, low, high) in [(0.0, 0, 0), (0.25, 2_300, 2_700), (1.0, 10_000, 10_000)] {
            toxic.toxicity = toxicity;
            let hit = |seed| (0..10_000).filter(|c| toxic.hits(seed, *c, CLIENT)).count();
            assert!((low..=high).contains(&hit(7)), "{toxicity}: {}", hit(7));
            assert_eq!(hit(7), hit(7));
        }
    }

    #[test]
    fn a_toxic_for_one_client_leaves_others_alone() {
        let other = IpAddr::from([127, 0, 1, 10]);
        let toxic = Toxic::new(Stream::Upstream, Effect::Stall {}).only_from(other);
        assert!(toxic.hits(1, 1, other) && !toxic.hits(1, 1, CLIENT));
    }
}
