//! The steps every kind of fault has.

use std::time::Duration;

use super::error::FaultError;
use crate::environment::Stack;
use crate::target::Target;
use crate::target::template::Variables;

/// Where faults are injected.
#[derive(Debug, Clone, Copy)]
pub(super) struct Site<'s> {
    pub stack: &'s Stack,
    pub target: &'s Target,
    /// What the target's commands may name: the stack's and the run's variables.
    pub variables: &'s Variables,
}

/// One fault on its way. Steps are called in the order written here; `heal` is called whatever
/// became of `inject`.
pub(super) trait Injection {
    /// Finds the victim and says in words what will be done to it.
    async fn applicable(&mut self, site: Site<'_>) -> Result<String, FaultError>;

    async fn inject(&mut self, site: Site<'_>) -> Result<(), FaultError>;

    /// Evidence that the fault bit, once there is enough of it; the error says what is missing.
    async fn receipt(&mut self, site: Site<'_>) -> Result<String, FaultError>;

    /// From the injection to the heal; None for a change of state that is not healed.
    fn heal_after(&self) -> Option<Duration>;

    async fn heal(&mut self, site: Site<'_>) -> Result<(), FaultError>;

    /// The error says what is still missing.
    async fn is_healed(&self, site: Site<'_>) -> Result<(), FaultError>;
}
