//! Which records of a history are wanted.

use super::operation::{Operation, OperationKind, Outcome};

/// What is not said does not matter; all that is said must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    pub key: Option<u64>,
    pub user: Option<u64>,
    /// Index into the plan's SKUs.
    pub sku: Option<u32>,
    pub kind: Option<OperationKind>,
    pub outcome: Option<Outcome>,
}

impl Filter {
    pub fn takes(&self, one: &Operation) -> bool {
        is(self.key, one.key)
            && is(self.user, one.user)
            && is(self.sku, one.sku)
            && is(self.kind, one.kind)
            && is(self.outcome, one.outcome)
    }
}

fn is<T: Copy + PartialEq>(wanted: Option<T>, found: T) -> bool {
    wanted.is_none_or(|wanted| wanted == found)
}
