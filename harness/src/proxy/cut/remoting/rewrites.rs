//! Addresses that are replaced in what a name server tells of its brokers, so that clients take another way to them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::code;
use super::header::{join, split};

/// Addresses (`host:port`, as the server writes them) by those that take their place.
///
/// The bodies are `FastJSON`'s, which is no JSON for older clients: number keys are bare (`{0:"127.0.0.1:10911"}`). So
/// what is replaced is the text between quotes, wherever it stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rewrites(BTreeMap<String, String>);

impl Rewrites {
    /// `to` wherever the server says `from`.
    pub fn of(from: &str, to: &str) -> Self {
        Self([(from.to_owned(), to.to_owned())].into())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the answer to this request is to be changed.
    pub(super) fn concern(&self, word: &str) -> bool {
        !self.is_empty() && code::tells_addresses(word)
    }

    /// The same frame with the other addresses in its body, if it has any.
    pub(super) fn apply(&self, frame: &[u8]) -> Option<Vec<u8>> {
        let (serialization, header, body) = split(frame)?;
        let other = |text: &[u8]| self.0.get(std::str::from_utf8(text).ok()?);
        let texts = body.split(|byte| *byte == b'"');
        let texts: Vec<&[u8]> = texts
            .map(|text| other(text).map_or(text, |to| to.as_bytes()))
            .collect();
        let changed = texts.join(&b'"');
        (changed != body).then(|| join(serialization, header, &changed))
    }
}

#[cfg(test)]
mod tests {
    use super::super::header::Serialization;
    use super::super::header::testing::frame;
    use super::*;

    /// An address twice, as older and newer clients are told it, and two texts that only look like it.
    const ROUTE: &str = r#"{"brokerDatas":[{"brokerAddrs":{0:"127.0.0.1:10911",1:"127.0.0.1:109110"},
        "brokerName":"x127.0.0.1:10911"},{"brokerAddrs":{"0":"127.0.0.1:10911"}}]}"#;

    #[test]
    fn whole_addresses_are_replaced_and_the_lengths_are_right() {
        for to in ["127.0.0.1:5", "a-longer.name:65535", "127.0.0.2:10911"] {
            let rewrites = Rewrites::of("127.0.0.1:10911", to);
            let expected = ROUTE.replace("\"127.0.0.1:10911\"", &format!("\"{to}\""));
            for serialization in [Serialization::Json, Serialization::Binary] {
                let [told, expected] = [ROUTE, &expected]
                    .map(|body| frame(serialization, [0, 7, 1], &[], body.as_bytes()));
                assert_eq!(rewrites.apply(&told), Some(expected), "{to}");
            }
        }
    }

    #[test]
    fn what_has_none_of_the_addresses_stays() {
        let told = frame(Serialization::Json, [0, 7, 1], &[], ROUTE.as_bytes());
        for rewrites in [
            Rewrites::default(),
            Rewrites::of("10.0.0.1:1", "10.0.0.2:1"),
        ] {
            assert_eq!(rewrites.apply(&told), None);
        }
        let header = [("addr", "127.0.0.1:10911")];
        let told = frame(Serialization::Json, [0, 7, 1], &header, b"\"\xff\"");
        assert_eq!(Rewrites::of("127.0.0.1:10911", "a:1").apply(&told), None);
    }
}
