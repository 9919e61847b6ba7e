//! Which links a fault is about, and which way on them.

use deserr::{Deserr, ErrorKind, IntoValue, Value, ValuePointerRef};
use serde::{Deserialize, Serialize};

use super::error::FaultError;
use super::site::Site;
use crate::drill::problems::{OutOfRange, Problems};
use crate::proxy::toxic::Stream;

/// Names of links; `*` stands for anything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Links(Vec<String>);

impl Deserr<Problems> for Links {
    /// A list, or one name: on a command line a list is a nuisance.
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let patterns = match value {
            Value::String(one) => vec![one],
            list => Vec::<String>::deserialize_from_value(list, location)?,
        };
        let wrong = |OutOfRange(msg)| Problems::one::<V>(ErrorKind::Unexpected { msg }, location);
        Self::new(patterns).map_err(wrong)
    }
}

impl Links {
    /// # Errors
    /// An empty list.
    pub fn new(patterns: Vec<String>) -> Result<Self, OutOfRange> {
        if patterns.is_empty() {
            let what = "empty: name links such as `redis-bus-*`; `flashdrill ps` shows them";
            return Err(OutOfRange(what.to_owned()));
        }
        Ok(Self(patterns))
    }

    pub fn patterns(&self) -> &[String] {
        &self.0
    }

    /// The link of that name is meant.
    pub fn hit(&self, name: &str) -> bool {
        self.0.iter().any(|pattern| matches(pattern, name))
    }

    /// The first pattern that matches none of `there_are`.
    pub fn idle(&self, there_are: &[String]) -> Option<&str> {
        let matches_none = |pattern: &&String| !there_are.iter().any(|name| matches(pattern, name));
        self.0.iter().find(matches_none).map(String::as_str)
    }

    /// The links there are that are meant, by name.
    ///
    /// # Errors
    /// A pattern that matches none, with the links there are.
    pub(super) async fn find(&self, site: Site<'_>) -> Result<Vec<String>, FaultError> {
        let there_are: Vec<String> = site.stack.links.proxies().await?.into_keys().collect();
        if let Some(pattern) = self.idle(&there_are) {
            return Err(FaultError::NoLink {
                pattern: pattern.to_owned(),
                there_are: there_are.join(", "),
            });
        }
        Ok(there_are
            .into_iter()
            .filter(|name| self.hit(name))
            .collect())
    }
}

/// Whether `name` is what `pattern` says, `*` standing for any text.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((head, tail)) => name.strip_prefix(head).is_some_and(|rest| {
            let ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
            ends.into_iter().any(|at| matches(tail, &rest[at..]))
        }),
    }
}

/// Which directions are hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserr, Serialize, Deserialize)]
#[deserr(rename_all = lowercase, error = Problems)]
#[serde(rename_all = "lowercase")]
pub enum Streams {
    /// From the client to the server.
    Upstream,
    /// From the server to the client.
    Downstream,
    Both,
}

impl Streams {
    pub(super) fn list(self) -> &'static [Stream] {
        match self {
            Self::Upstream => &[Stream::Upstream],
            Self::Downstream => &[Stream::Downstream],
            Self::Both => &Stream::BOTH,
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Upstream => "towards the server",
            Self::Downstream => "towards the client",
            Self::Both => "both ways",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name, expected) in [
            ("mysql", "mysql", true),
            ("mysql", "mysql-replica", false),
            ("mysql*", "mysql", true),
            ("service-*-mysql", "service-10-mysql", true),
            ("service-*-mysql", "service-0-mysql-replica", false),
            ("*-redis-*", "service-0-redis-5", true),
            ("redis-*", "service-0-redis-5", false),
            ("*", "anything", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn no_links_are_none() {
        assert!(Links::new(Vec::new()).is_err());
    }
}
