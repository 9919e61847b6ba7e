//! The name of a kind of fault, where a file speaks of the kind and not of one fault.

use std::fmt;

use deserr::Deserr;

use super::Fault;
use super::kinds::no_kind;
use crate::drill::problems::OutOfRange;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserr)]
#[deserr(try_from(&String) = KindName::new -> OutOfRange)]
pub struct KindName(&'static str);

impl KindName {
    /// # Errors
    /// There is no such kind.
    pub fn new(name: &str) -> Result<Self, OutOfRange> {
        let mut kinds = Fault::KINDS.iter().map(|about| about.kind);
        let known = kinds.find(|kind| *kind == name);
        known.map(Self).ok_or_else(|| OutOfRange(no_kind(name)))
    }

    pub fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for KindName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}
