//! Who answers at the other end of a connection: a server process, not an address.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// One server process: a node of the cluster in one of its runs. A process that comes back after a
/// crash, or a replica that takes over, is another identity, and may have lost what the last one knew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Unique within this process; never 0.
    pub number: u64,
    pub node_id: String,
    pub run_id: String,
}

/// Every identity seen so far.
#[derive(Debug, Default)]
pub struct Identities(Mutex<HashMap<(String, String), Arc<Identity>>>);

impl Identities {
    /// The same identity for the same pair, however often it connects.
    pub fn of(&self, node_id: &str, run_id: &str) -> Arc<Identity> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = known.len() as u64 + 1;
        let identity = known
            .entry((node_id.to_owned(), run_id.to_owned()))
            .or_insert_with(|| {
                Arc::new(Identity {
                    number,
                    node_id: node_id.to_owned(),
                    run_id: run_id.to_owned(),
                })
            });
        Arc::clone(identity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_run_of_the_same_node_is_another_identity() {
        let identities = Identities::default();
        let first = identities.of("node", "run1");
        assert_eq!(identities.of("node", "run1"), first);
        let others = [
            identities.of("node", "run2"),
            identities.of("node2", "run1"),
        ];
        assert!(
            others
                .iter()
                .all(|other| other.number != first.number && other.number != 0)
        );
    }
}
