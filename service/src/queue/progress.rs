//! How far each of a topic's queues is filled, and how far it has been applied to MySQL.

use std::collections::BTreeMap;

/// Offsets of one queue: the next to be written and the next to be applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Offsets {
    filled: i64,
    applied: i64,
}

/// One reading of all queues.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Progress(BTreeMap<String, Offsets>);

impl Progress {
    /// From the name, the next offset to be written and the next to be applied of each queue.
    #[must_use]
    pub fn new(queues: impl IntoIterator<Item = (String, i64, i64)>) -> Self {
        let offsets = |(name, filled, applied)| (name, Offsets { filled, applied });
        Self(queues.into_iter().map(offsets).collect())
    }

    /// Messages that have not been applied.
    #[must_use]
    pub fn backlog(&self) -> u64 {
        let lag = |one: &Offsets| u64::try_from(one.filled - one.applied).unwrap_or(0);
        self.0.values().map(lag).sum()
    }

    /// Everything that was in the queues at an `earlier` reading has been applied by now, whatever came
    /// since. A queue that this reading lacks is one that did not answer.
    #[must_use]
    pub fn has_applied(&self, earlier: &Self) -> bool {
        let is_past = |(name, mark): (&String, &Offsets)| {
            self.0
                .get(name)
                .is_some_and(|now| now.applied >= mark.filled)
        };
        earlier.0.iter().all(is_past)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(queues: &[(&str, i64, i64)]) -> Progress {
        let named =
            |&(name, filled, applied): &(&str, i64, i64)| (name.to_owned(), filled, applied);
        Progress::new(queues.iter().map(named))
    }

    #[test]
    fn an_earlier_reading_is_applied_while_new_messages_keep_coming() {
        let mark = reading(&[("a", 10, 4), ("b", 3, 3)]);
        assert_eq!(mark.backlog(), 6);
        let cases = [
            (reading(&[("a", 10, 9), ("b", 3, 3)]), false),
            (reading(&[("a", 10, 10), ("b", 3, 3)]), true),
            (reading(&[("a", 90, 12), ("b", 50, 3)]), true),
            (reading(&[("a", 10, 10)]), false),
            (reading(&[("a", 10, 10), ("b", 5, 2)]), false),
        ];
        for (now, expected) in cases {
            assert_eq!(now.has_applied(&mark), expected, "{now:?}");
        }
        assert!(
            mark.has_applied(&Progress::default()),
            "nothing was to be waited for"
        );
    }
}
