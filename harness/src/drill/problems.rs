//! Everything wrong with a file at once, each with its key path.

use std::convert::Infallible;
use std::fmt;
use std::ops::ControlFlow;

use deserr::errors::helpers::did_you_mean;
use deserr::errors::json::value_kinds_description_json;
use deserr::{DeserializeError, ErrorKind, IntoValue, MergeWithError, ValuePointerRef};

/// One mistake: where and what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Key path such as `load.phases[0].rate_per_s`; empty for the file as a whole.
    pub path: String,
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            return f.write_str(&self.message);
        }
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// Mistakes in the order in which they were found; empty only while nothing was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl Problems {
    pub fn push(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.0.push(Problem {
            path: path.into(),
            message: message.into(),
        });
    }

    /// A single mistake that was found by hand, in the words of the deserializer.
    pub fn one<V: IntoValue>(error: ErrorKind<'_, V>, location: ValuePointerRef<'_>) -> Self {
        deserr::take_cf_content(Self::error(None, error, location))
    }

    /// Takes over `other`, with its paths below `section`.
    pub fn extend_below(&mut self, section: &str, other: Self) {
        self.0.extend(other.0.into_iter().map(|problem| Problem {
            path: format!("{section}{}", below(&problem.path)),
            message: problem.message,
        }));
    }

    /// `value` when nothing is wrong.
    ///
    /// # Errors
    /// These problems, when there are any or there is no value.
    pub fn or<T>(self, value: Option<T>) -> Result<T, Self> {
        match value {
            Some(value) if self.0.is_empty() => Ok(value),
            _ => Err(self),
        }
    }
}

fn below(path: &str) -> String {
    match path.chars().next() {
        None | Some('[') => path.to_owned(),
        Some(_) => format!(".{path}"),
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in &self.0 {
            write!(f, "\n  {problem}")?;
        }
        Ok(())
    }
}

/// A value outside what its key allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutOfRange(pub String);

impl DeserializeError for Problems {
    fn error<V: IntoValue>(
        found: Option<Self>,
        error: ErrorKind<'_, V>,
        location: ValuePointerRef<'_>,
    ) -> ControlFlow<Self, Self> {
        let (key, message) = describe(error);
        let mut problems = found.unwrap_or_default();
        let path = path_of(location);
        let path = match key {
            Some(key) if path.is_empty() => key,
            Some(key) => format!("{path}.{key}"),
            None => path,
        };
        problems.push(path, message);
        ControlFlow::Continue(problems)
    }
}

/// The key to add to the path, if the problem is about one, and the message.
fn describe<V: IntoValue>(error: ErrorKind<'_, V>) -> (Option<String>, String) {
    match error {
        ErrorKind::IncorrectValueKind { actual, accepted } => {
            let found = serde_json::Value::from(actual);
            let expected = value_kinds_description_json(accepted);
            (None, format!("expected {expected}, found `{found}`"))
        }
        ErrorKind::MissingField { field } => (Some(field.to_owned()), "missing".to_owned()),
        ErrorKind::UnknownKey { key, accepted } => (
            Some(key.to_owned()),
            format!("unknown key; {}", choices(key, accepted)),
        ),
        ErrorKind::UnknownValue { value, accepted } => (
            None,
            format!("unknown value `{value}`; {}", choices(value, accepted)),
        ),
        ErrorKind::BadSequenceLen { expected, .. } => {
            (None, format!("expected {expected} elements"))
        }
        ErrorKind::Unexpected { msg } => (None, msg),
    }
}

fn choices(value: &str, accepted: &[&str]) -> String {
    format!(
        "{}one of {}",
        did_you_mean(value, accepted),
        accepted.join(", ")
    )
}

fn path_of(location: ValuePointerRef<'_>) -> String {
    match location {
        ValuePointerRef::Origin => String::new(),
        ValuePointerRef::Key { key, prev } => match path_of(*prev) {
            path if path.is_empty() => key.to_owned(),
            path => format!("{path}.{key}"),
        },
        ValuePointerRef::Index { index, prev } => format!("{}[{index}]", path_of(*prev)),
    }
}

impl MergeWithError<Self> for Problems {
    fn merge(
        found: Option<Self>,
        other: Self,
        _location: ValuePointerRef<'_>,
    ) -> ControlFlow<Self, Self> {
        let mut problems = found.unwrap_or_default();
        problems.0.extend(other.0);
        ControlFlow::Continue(problems)
    }
}

impl MergeWithError<OutOfRange> for Problems {
    fn merge(
        found: Option<Self>,
        other: OutOfRange,
        location: ValuePointerRef<'_>,
    ) -> ControlFlow<Self, Self> {
        Self::error::<Infallible>(found, ErrorKind::Unexpected { msg: other.0 }, location)
    }
}
